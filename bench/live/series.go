package live

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

// series records slot usage over time: a sample whenever the number of a job's attempts of a
// kind has changed at the end of a millisecond.
func (t *resultBuilder) series() {
	type holder struct {
		job  string
		kind cluster.Slot
	}
	slices.SortStableFunc(t.changes, func(a, b slotChange) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job), cmp.Compare(a.kind, b.kind))
	})
	running := make(map[holder]int)
	for i, c := range t.changes {
		h := holder{c.job, c.kind}
		before := running[h]
		running[h] += c.more
		same := func(o slotChange) bool { return o.at == c.at && o.job == c.job && o.kind == c.kind }
		if i+1 < len(t.changes) && same(t.changes[i+1]) {
			continue
		}
		for k := i - 1; k >= 0 && same(t.changes[k]); k-- {
			before -= t.changes[k].more
		}
		if running[h] != before {
			t.out.Series = append(t.out.Series, sim.Sample{At: c.at, Job: c.job, Pool: c.pool, Kind: c.kind, Running: running[h]})
		}
	}
}
