package nginx

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// Generation is the set of workers of one load.
type Generation struct {
	Load    int
	Workers int
	// Memory is in bytes. Workers of one generation share the parsed
	// configuration, so the largest of them counts for all.
	Memory int64
}

// Generations returns the generation that serves, and those that have stopped
// accepting but still have requests, oldest first.
func (p *Process) Generations() (serving Generation, draining []Generation) {
	r := p.currentRun()
	if r == nil || r.ended() {
		return Generation{}, nil
	}
	byLoad := map[int]Generation{}
	for pid, load := range p.livingGenerations(r) {
		g := byLoad[load]
		byLoad[load] = Generation{Load: load, Workers: g.Workers + 1, Memory: max(g.Memory, privateMemory(pid))}
	}
	loads := slices.Sorted(maps.Keys(byLoad))
	if len(loads) == 0 {
		return Generation{}, nil
	}
	newest := len(loads) - 1
	for _, load := range loads[:newest] {
		draining = append(draining, byLoad[load])
	}
	return byLoad[loads[newest]], draining
}

// End stops the workers of a draining generation, together with their open requests.
// It does nothing to an external nginx.
func (p *Process) End(g Generation) {
	r := p.currentRun()
	if r == nil || r.ended() || p.external() {
		return
	}
	p.options.Logger.Warn("ending workers of nginx that still have requests: draining workers use too much memory (--drain-memory)",
		"generation", g.Load, "workers", g.Workers, "megabytes", g.Memory>>20)
	for pid, load := range p.livingGenerations(r) {
		if load == g.Load {
			_ = unix.Kill(pid, unix.SIGTERM) // a missing process is fine
		}
	}
}

// livingGenerations forgets workers that have ended and returns the others.
func (p *Process) livingGenerations(r *run) map[int]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	living := map[int]int{}
	for pid, load := range p.generations {
		if stat, ok := readStat(pid); ok && stat.Parent == r.PID {
			living[pid] = load
		}
	}
	p.generations = living
	return maps.Clone(living)
}
