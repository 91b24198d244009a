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

// ledger knows what nginx is to hold, and which of it was not sent yet to the
// nginx that runs now.
type ledger struct {
	backends     list
	certificates list
	names        list
	// added is what was added last, sorted; each has an item. Backends are missing if
	// something was left out of any.
	added model.Dynamic
}

// list is one kind of item.
type list struct {
	// kind is the field of the wire format, and the word of errors.
	kind  string
	items map[string]*item
	// pending are the keys of the items that nginx has not confirmed.
	pending map[string]bool
	// gone are keys that nginx holds perhaps, and is to drop.
	gone map[string]bool
}

// item is one thing that nginx is to hold.
type item struct {
	// source is the pointer it was made of: the same pointer, the same item.
	source any
	// content is what is compared. For a certificate, whose ID is a hash of
	// what it holds, it is empty: keys are not copied to be remembered.
	content []byte
	// problem is what was left out of it.
	problem error
	// refused is whether nginx had no room for it.
	refused bool
}

func newLedger() *ledger {
	return &ledger{backends: newList("backends"), certificates: newList("certificates"), names: newList("names")}
}

func newList(kind string) list {
	return list{kind: kind, items: map[string]*item{}, pending: map[string]bool{}, gone: map[string]bool{}}
}

// lists are in the order of sending: a name comes after what it refers to.
func (l *ledger) lists() []*list {
	return []*list{&l.backends, &l.certificates, &l.names}
}

// add takes in what nginx is to hold besides what it holds already. The error
// names the endpoints that were left out. What is as it was added last is passed over.
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
		content, err := encodeName(n)
		problems = append(problems, err)
		l.names.put(n.Host, nil, content)
	}
	if l.added = d; wrong {
		l.added.Backends = nil
	}
	return errors.Join(problems...)
}

// others gives the elements of now that before lacks; both are sorted by key.
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

// put replaces an item unless it is equal, and gives the one that is held.
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

// retain drops every item that d does not have, which was added just before.
func (l *ledger) retain(d model.Dynamic) {
	retain(&l.backends, d.Backends, func(b *model.Backend) string { return b.Key })
	retain(&l.certificates, d.Certificates, func(c *model.Certificate) string { return c.ID })
	retain(&l.names, d.Names, func(n model.CertificateName) string { return n.Host })
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

// drop marks those of the keys that are not of the list.
func (l *list) drop(keys []string) {
	for _, key := range keys {
		if l.items[key] == nil {
			l.gone[key] = true
		}
	}
}

// forget is called when another nginx runs, which holds nothing.
func (l *ledger) forget() {
	for _, list := range l.lists() {
		for key, item := range list.items {
			list.pending[key], item.refused = true, false
		}
		clear(list.gone)
	}
}

// unsent gives the keys that nginx has not confirmed, sorted.
func (l *list) unsent() []string { return slices.Sorted(maps.Keys(l.pending)) }

// dropped gives the keys that nginx is to delete, sorted.
func (l *list) dropped() []string {
	return slices.Sorted(maps.Keys(l.gone))
}

// confirm notes that nginx holds the items of keys, but for the failed ones.
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

// refused gives the keys that nginx had no room for, sorted.
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

// set gives the items as part of a push.
func (l *list) set(items []json.RawMessage) *set {
	switch l.kind {
	case "backends":
		return &set{Backends: items}
	case "certificates":
		return &set{Certificates: items}
	}
	return &set{Names: items}
}

// absent gives the keys as part of a push.
func (l *list) absent(keys []string) *absent {
	switch l.kind {
	case "backends":
		return &absent{Backends: keys}
	case "certificates":
		return &absent{Certificates: keys}
	}
	return &absent{Names: keys}
}

// of gives the keys of the list's kind.
func (l *list) of(a absent) []string {
	switch l.kind {
	case "backends":
		return a.Backends
	case "certificates":
		return a.Certificates
	}
	return a.Names
}
