package dynamic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	// added are the names that were added last, sorted by host; each has an item.
	added []model.CertificateName
	// whole are the backends that were added last, sorted by key, if nothing was left
	// out of any; each has an item.
	whole []*model.Backend
}

// list is one kind of item.
type list struct {
	// kind is the field of the wire format, and the word of errors.
	kind  string
	items map[string]*item
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
	// sent is whether nginx confirmed it, refused whether it had no room for it.
	sent, refused bool
}

func newLedger() *ledger {
	return &ledger{backends: newList("backends"), certificates: newList("certificates"), names: newList("names")}
}

func newList(kind string) list {
	return list{kind: kind, items: map[string]*item{}, gone: map[string]bool{}}
}

// lists are in the order of sending: a name comes after what it refers to.
func (l *ledger) lists() []*list {
	return []*list{&l.backends, &l.certificates, &l.names}
}

// add takes in what nginx is to hold besides what it holds already. The error
// names the endpoints that were left out.
func (l *ledger) add(d model.Dynamic) error {
	problems := l.addBackends(d.Backends)
	for _, c := range d.Certificates {
		l.certificates.put(c.ID, c, nil)
	}
	return errors.Join(append(problems, l.addNames(d.Names))...)
}

// addNames passes over those that are as they were added last: of many hosts few
// get another certificate at once.
func (l *ledger) addNames(names []model.CertificateName) error {
	var problems []error
	before := l.added
	for _, n := range names {
		for len(before) > 0 && before[0].Host < n.Host {
			before = before[1:]
		}
		if len(before) > 0 && before[0] == n {
			continue
		}
		content, err := encodeName(n)
		problems = append(problems, err)
		l.names.put(n.Host, nil, content)
	}
	l.added = names
	return errors.Join(problems...)
}

// addBackends passes over those that are as they were added last.
func (l *ledger) addBackends(backends []*model.Backend) (problems []error) {
	before := l.whole
	for _, b := range backends {
		for len(before) > 0 && before[0] != b && before[0].Key < b.Key {
			before = before[1:]
		}
		if len(before) > 0 && before[0] == b {
			before = before[1:]
			continue
		}
		if err := l.addBackend(b); err != nil {
			problems = append(problems, err)
		}
	}
	if l.whole = backends; len(problems) > 0 {
		l.whole = nil
	}
	return problems
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
		l.items[key] = held
	}
	held.source = source
	return held
}

// retain drops every item that d does not have.
func (l *ledger) retain(d model.Dynamic) {
	backends, certificates, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, b := range d.Backends {
		backends[b.Key] = true
	}
	for _, c := range d.Certificates {
		certificates[c.ID] = true
	}
	for _, n := range d.Names {
		names[n.Host] = true
	}
	l.backends.retain(backends)
	l.certificates.retain(certificates)
	l.names.retain(names)
}

func (l *list) retain(wanted map[string]bool) {
	for key := range l.items {
		if !wanted[key] {
			delete(l.items, key)
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
		for _, item := range list.items {
			item.sent, item.refused = false, false
		}
		clear(list.gone)
	}
}

// unsent gives the keys that nginx has not confirmed, sorted.
func (l *list) unsent() []string {
	var keys []string
	for key, item := range l.items {
		if !item.sent {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// dropped gives the keys that nginx is to delete, sorted.
func (l *list) dropped() []string {
	return slices.Sorted(maps.Keys(l.gone))
}

// confirm notes that nginx holds the items of keys, but for the failed ones.
func (l *list) confirm(keys, failed []string) {
	for _, key := range keys {
		l.items[key].sent, l.items[key].refused = true, false
	}
	for _, key := range failed {
		if item := l.items[key]; item != nil {
			item.sent, item.refused = false, true
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
