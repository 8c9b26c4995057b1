package task

import (
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// fetchedSets are the outputs that the reduces of an attempt have taken in, as reported to
// the master: outputs on a lost machine that all readers have are not written again. Any
// goroutine may use it.
//
// Of an edge that several reduces read, the attempt has only what all of them have. It has
// nothing until each of its Nodes has opened its own reduce. Reports carry only sets that
// have changed; resendAll makes the next one complete, for a master that knows none.
//
//	reduce 0 has outputs 0 1 2 3    ┐
//	reduce 1 has outputs   1 2   4  ┴──► reported: 1 2
type fetchedSets struct {
	readers map[int]int // number of Nodes that read an edge, by edge that is a file; set before use
	mu      struct {
		sync.Mutex
		reduces map[*Reduce]map[int]nodeSet // outputs that each reduce has taken in, by edge
		changed map[int]bool                // edges whose set differs from the last report
	}
}

// nodeSet is a set of numbers of writing Nodes: n is in it if bit n%8 of byte n/8 is
// set.
type nodeSet []byte

// with returns s with n added; it may change s.
func (s nodeSet) with(n int32) nodeSet {
	for len(s) <= int(n/8) {
		s = append(s, 0)
	}
	s[n/8] |= 1 << (n % 8)
	return s
}

// has reports whether n is in the set.
func (s nodeSet) has(n int32) bool { return int(n/8) < len(s) && s[n/8]&(1<<(n%8)) != 0 }

// size returns how many numbers are in the set.
func (s nodeSet) size() (n int) {
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}

// and returns the intersection as a new set.
func (s nodeSet) and(other nodeSet) nodeSet {
	both := slices.Clone(s[:min(len(s), len(other))])
	for i := range both {
		both[i] &= other[i]
	}
	return both
}

// expect registers the edges that a Node reads. It is called for each Node before any of
// them runs.
func (f *fetchedSets) expect(channels []Channel) {
	if f.readers == nil {
		f.readers = make(map[int]int)
	}
	for _, c := range fileChannels(channels) {
		f.readers[c.Edge]++
	}
}

// open adds a reduce with what it has when it starts to copy.
func (f *fetchedSets) open(r *Reduce) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.reduces == nil {
		f.mu.reduces, f.mu.changed = make(map[*Reduce]map[int]nodeSet), make(map[int]bool)
	}
	sets := make(map[int]nodeSet, len(r.channels))
	f.mu.reduces[r] = sets
	for _, c := range r.channels {
		sets[c.Edge] = slices.Clone(r.fetched[c.Edge])
		f.mu.changed[c.Edge] = true
	}
}

// remove removes a reduce that another continues.
func (f *fetchedSets) remove(r *Reduce) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for edge := range f.mu.reduces[r] {
		f.mu.changed[edge] = true
	}
	delete(f.mu.reduces, r)
}

// add notes that a reduce has taken in an output.
func (f *fetchedSets) add(r *Reduce, o *taskproc.MapOutput) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sets, edge := f.mu.reduces[r], int(o.Edge)
	sets[edge] = sets[edge].with(o.Task)
	f.mu.changed[edge] = true
}

// resendAll makes the next report have all sets.
func (f *fetchedSets) resendAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, sets := range f.mu.reduces {
		for edge := range sets {
			f.mu.changed[edge] = true
		}
	}
}

// takeChanges returns the sets that have changed since the last report, in order of
// edges.
func (f *fetchedSets) takeChanges() (update []*taskproc.Fetched) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, edge := range slices.Sorted(maps.Keys(f.mu.changed)) {
		update = append(update, &taskproc.Fetched{Edge: int32(edge), Nodes: f.allHaveLocked(edge)})
	}
	clear(f.mu.changed)
	return update
}

// allHaveLocked returns what all reduces of an edge have taken in along it.
func (f *fetchedSets) allHaveLocked(edge int) (all nodeSet) {
	nodes := make(map[*NodeRun]bool)
	for r, sets := range f.mu.reduces {
		switch set, reads := sets[edge]; {
		case !reads:
			continue
		case len(nodes) == 0:
			all = slices.Clone(set)
		default:
			all = all.and(set)
		}
		nodes[r.Node] = true
	}
	if len(nodes) < f.readers[edge] {
		return nil
	}
	return all
}
