package assemble

import (
	"maps"

	"sluice/internal/claim"
)

// Memo remembers the servers made of claims. It makes the next call faster and never
// changes a result. It is for one goroutine at a time, and for inputs with equal
// settings and options.
type Memo struct {
	// pass counts the calls. Entries carry the number of the last call that used them;
	// end drops the others.
	pass     uint64
	hosts    map[string]*host
	backends map[BackendID]*Backend
	// sortedHosts and sortedBackends are those of the last call.
	sortedHosts    inOrder[*host]
	sortedBackends inOrder[*Backend]
	// usedHosts and usedBackends are the numbers of entries that this call used.
	usedHosts, usedBackends int
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{
		hosts: map[string]*host{}, backends: map[BackendID]*Backend{},
		sortedHosts:    inOrder[*host]{compare: (*host).compare, placeOf: func(h *host) *place { return &h.place }},
		sortedBackends: inOrder[*Backend]{compare: (*Backend).compare, placeOf: func(b *Backend) *place { return &b.place }},
	}
}

func (m *Memo) begin(in Input) *Assembly {
	m.pass++
	m.usedHosts, m.usedBackends = 0, 0
	return &Assembly{Input: in, memo: m, absent: map[*claim.Owner]bool{}}
}

// end drops the entries that the call did not use.
func (m *Memo) end() {
	if len(m.hosts) > m.usedHosts {
		maps.DeleteFunc(m.hosts, func(_ string, h *host) bool { return h.pass != m.pass })
	}
	if len(m.backends) > m.usedBackends {
		maps.DeleteFunc(m.backends, func(_ BackendID, b *Backend) bool { return b.pass != m.pass })
	}
}
