package dynamic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"sluice/internal/model"
)

// ledger is the items that nginx should hold, and those not sent yet to the nginx that
// runs now.
type ledger struct {
	backends     list
	certificates list
	names        list
	staples      list
	tickets      list
	// added is the last addition, sorted; each element has an item. Its Backends are
	// nil if any was left out or incomplete.
	added model.Dynamic
}

// list is one kind of item.
type list struct {
	// kind is the field of the wire format, and the noun in errors.
	kind  string
	items map[string]*item
	// pending are the keys of the items that nginx has not confirmed.
	pending map[string]bool
	// gone are keys that nginx may hold and should drop.
	gone map[string]bool
}

// item is one thing that nginx should hold.
type item struct {
	// source is the pointer that it was made of. The same pointer gives the same item.
	source any
	// content is compared. It is empty for a certificate, whose ID is a hash of its
	// content: the ledger keeps no copy of its key.
	content []byte
	// problem names the parts that were left out.
	problem error
	// refused is set if nginx had no room for it.
	refused bool
}

func newLedger() *ledger {
	return &ledger{backends: newList("backends"), certificates: newList("certificates"), names: newList("names"), staples: newList("staples"), tickets: newList("tickets")}
}

func newList(kind string) list {
	return list{kind: kind, items: map[string]*item{}, pending: map[string]bool{}, gone: map[string]bool{}}
}

// lists are in the order of sending: names come after the items that they refer to, and
// OCSP responses last, so that they take no room from the others.
func (l *ledger) lists() []*list {
	return []*list{&l.backends, &l.certificates, &l.tickets, &l.names, &l.staples}
}

// add adds items that nginx should hold. The error names endpoints that were left out.
// Elements of the last addition are skipped.
func (l *ledger) add(d model.Dynamic) error {
	var problems []error
	for b := range others(l.added.Backends, d.Backends, func(b *model.Backend) string { return b.Key }) {
		if err := l.addBackend(b); err != nil {
			problems = append(problems, err)
		}
	}
	wrong := len(problems) > 0
	for c := range others(l.added.Certificates, d.Certificates, func(c *model.Certificate) string { return c.ID }) {
		l.certificates.put(c.ID, c, nil)
	}
	for n := range others(l.added.Names, d.Names, func(n model.CertificateName) string { return n.Host }) {
		content, err := json.Marshal(wireName(n))
		problems = append(problems, err)
		l.names.put(n.Host, nil, content)
	}
	for s := range others(l.added.Staples, d.Staples, func(s *model.Staple) string { return s.ID }) {
		content, err := json.Marshal(wireStaple(*s))
		problems = append(problems, err)
		l.staples.put(s.ID, s, content)
	}
	if len(d.TicketKey) > 0 {
		content, err := encodeTicket(d.TicketKey)
		problems = append(problems, err)
		l.tickets.put(ticketID, nil, content)
	}
	if l.added = d; wrong {
		l.added.Backends = nil
	}
	return errors.Join(problems...)
}

// others yields the elements of now that before lacks; both are sorted by key.
func others[T comparable](before, now []T, key func(T) string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, element := range now {
			for len(before) > 0 && before[0] != element && key(before[0]) < key(element) {
				before = before[1:]
			}
			if len(before) > 0 && before[0] == element {
				before = before[1:]
			} else if !yield(element) {
				return
			}
		}
	}
}

func (l *ledger) addBackend(b *model.Backend) error {
	if held := l.backends.items[b.Key]; held != nil && held.source == any(b) {
		return held.problem
	}
	content, err := encodeBackend(b)
	if content != nil {
		l.backends.put(b.Key, b, content).problem = err
	}
	return err
}

// put stores an item unless it is equal to the stored one, and returns the stored one.
func (l *list) put(key string, source any, content []byte) *item {
	delete(l.gone, key)
	held := l.items[key]
	if held == nil || !bytes.Equal(held.content, content) {
		held = &item{content: content}
		l.items[key], l.pending[key] = held, true
	}
	held.source = source
	return held
}

// retain drops every item that d lacks. d was just added.
func (l *ledger) retain(d model.Dynamic) {
	retain(&l.backends, d.Backends, func(b *model.Backend) string { return b.Key })
	retain(&l.certificates, d.Certificates, func(c *model.Certificate) string { return c.ID })
	retain(&l.names, d.Names, func(n model.CertificateName) string { return n.Host })
	retain(&l.staples, d.Staples, func(s *model.Staple) string { return s.ID })
	retain(&l.tickets, ticketsOf(d), func(id string) string { return id })
}

// ticketID is the key of the one item of tickets.
const ticketID = "current"

func ticketsOf(d model.Dynamic) []string {
	if len(d.TicketKey) == 0 {
		return nil
	}
	return []string{ticketID}
}

func retain[T any](l *list, wanted []T, key func(T) string) {
	missing := func(element T) bool { return l.items[key(element)] == nil }
	if len(l.items) == len(wanted) && !slices.ContainsFunc(wanted, missing) {
		return // there is no other item
	}
	keys := make(map[string]bool, len(wanted))
	for _, element := range wanted {
		keys[key(element)] = true
	}
	for key := range l.items {
		if !keys[key] {
			delete(l.items, key)
			delete(l.pending, key)
			l.gone[key] = true
		}
	}
}

// drop marks the keys that are not on the list as gone.
func (l *list) drop(keys []string) {
	for _, key := range keys {
		if l.items[key] == nil {
			l.gone[key] = true
		}
	}
}

// forget marks all items as unsent, for another nginx, which holds nothing.
func (l *ledger) forget() {
	for _, list := range l.lists() {
		for key, item := range list.items {
			list.pending[key], item.refused = true, false
		}
		clear(list.gone)
	}
}

// unsent returns the keys that nginx has not confirmed, sorted.
func (l *list) unsent() []string { return slices.Sorted(maps.Keys(l.pending)) }

// dropped returns the keys that nginx should delete, sorted.
func (l *list) dropped() []string {
	return slices.Sorted(maps.Keys(l.gone))
}

// confirm records that nginx holds the items with these keys, except the failed ones.
func (l *list) confirm(keys, failed []string) {
	for _, key := range keys {
		delete(l.pending, key)
		l.items[key].refused = false
	}
	for _, key := range failed {
		if item := l.items[key]; item != nil {
			l.pending[key], item.refused = true, true
		}
	}
}

// refused returns the keys that nginx had no room for, sorted.
func (l *list) refused() []string {
	var keys []string
	for key, item := range l.items {
		if item.refused {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (l *list) encode(key string) (json.RawMessage, error) {
	text, err := l.items[key].encode()
	if err == nil && len(text) > maxItem {
		err = fmt.Errorf("%s: %q: want at most %d bytes (got %d)", l.kind, key, maxItem, len(text))
	}
	return text, err
}

func (i *item) encode() (json.RawMessage, error) {
	if certificate, ok := i.source.(*model.Certificate); ok {
		return encodeCertificate(certificate)
	}
	return i.content, nil
}
