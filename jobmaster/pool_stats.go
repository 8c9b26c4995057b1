package jobmaster

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/board"
)

// PoolStats counts the work of one pool.
type PoolStats struct {
	Name    string
	Running int           // tasks with an attempt
	Pending int           // tasks that wait for a slot, also those of suspended jobs
	Used    cluster.Slots // slots in use
	Share   [2]float64    // fair share in slots of each kind; 0 under a policy without shares
}

// maxPoolStats bounds the pools in Stats, because each becomes a label of metrics and users
// may have a pool each. All other pools are one entry with the name OtherPools.
const maxPoolStats = 100

// OtherPools is the name of an entry that has the sums of several pools. It is not the name
// of a pool, which has no parentheses.
const OtherPools = "(other)"

// shares returns the fair share of each pool in slots of each kind.
func (m *Master) shares() map[string][2]float64 {
	shares := make(map[string][2]float64)
	for _, p := range m.brain.Pools(m.now()) {
		shares[p.Name] = p.Share
	}
	return shares
}

// poolStats counts the work of each pool on a board: of those for jobs, and of those that jobs
// are still in.
func (s *Stats) poolStats(b *board.Snapshot) []PoolStats {
	pools := make(map[string]*PoolStats)
	of := func(name string) *PoolStats {
		p := pools[name]
		if p == nil {
			p = &PoolStats{Name: name, Share: s.shares[name]}
			pools[name] = p
		}
		return p
	}
	for _, name := range s.pools {
		of(name)
	}
	for _, j := range b.Jobs {
		if j.State.Final() {
			continue
		}
		p := of(j.Pool)
		for i := range j.Stages {
			stage := &j.Stages[i]
			p.Running += stage.Running
			p.Pending += stage.Waiting
			p.Used = p.Used.Plus(stage.Used())
		}
	}
	all := make([]PoolStats, 0, len(pools))
	for _, p := range pools {
		all = append(all, *p)
	}
	return all
}

// boundPools returns the largest pools by tasks, sorted by name, and the sums over the others.
func boundPools(pools []PoolStats, most int) []PoolStats {
	slices.SortFunc(pools, func(a, b PoolStats) int {
		return cmp.Or(cmp.Compare(b.Running+b.Pending, a.Running+a.Pending), cmp.Compare(a.Name, b.Name))
	})
	kept := pools[:min(most, len(pools))]
	slices.SortFunc(kept, func(a, b PoolStats) int { return cmp.Compare(a.Name, b.Name) })
	if len(kept) == len(pools) {
		return kept
	}
	other := PoolStats{Name: OtherPools}
	for _, p := range pools[len(kept):] {
		other.Running, other.Pending, other.Used = other.Running+p.Running, other.Pending+p.Pending, other.Used.Plus(p.Used)
		other.Share[0], other.Share[1] = other.Share[0]+p.Share[0], other.Share[1]+p.Share[1]
	}
	return append(slices.Clip(kept), other)
}
