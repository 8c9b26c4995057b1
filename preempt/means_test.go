package preempt

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
)

// TestNamedWays looks at what becomes of a way that is not for a victim.
func TestNamedWays(t *testing.T) {
	const keeping = cluster.WaySplit | cluster.WayCheckpoint | cluster.WaySuspend
	able := Victim{Elapsed: 1000, Remaining: 1000, Splits: true, MaySuspend: true}
	for name, tt := range map[string]struct {
		change func(*Victim)
		ways   []How // what comes of Ways without Auto
	}{
		"bears all":             {func(*Victim) {}, []How{Wait, Split, Checkpoint, Suspend, Kill}},
		"a reduce":              {func(v *Victim) { v.Reduce = true }, []How{Wait, Checkpoint, Checkpoint, Suspend, Kill}},
		"cannot be cut":         {func(v *Victim) { v.Splits = false }, []How{Wait, Checkpoint, Checkpoint, Suspend, Kill}},
		"a full machine":        {func(v *Victim) { v.MaySuspend = false }, []How{Wait, Split, Checkpoint, Wait, Kill}},
		"nothing is known":      {func(v *Victim) { v.Remaining = -1 }, []How{Wait, Wait, Wait, Wait, Wait}},
		"no split":              {func(v *Victim) { v.Barred = cluster.WaySplit }, []How{Wait, Checkpoint, Checkpoint, Suspend, Kill}},
		"cannot be resumed":     {func(v *Victim) { v.Barred = cluster.WaySplit | cluster.WayCheckpoint }, []How{Wait, Suspend, Suspend, Suspend, Kill}},
		"keeps no work":         {func(v *Victim) { v.Barred = keeping }, []How{Wait, Kill, Kill, Kill, Kill}},
		"must not lose any":     {func(v *Victim) { v.Barred = cluster.WayKill }, []How{Wait, Split, Checkpoint, Suspend, Wait}},
		"bears nothing":         {func(v *Victim) { v.Barred = cluster.AllWays }, []How{Wait, Wait, Wait, Wait, Wait}},
		"suspension or nothing": {func(v *Victim) { v.Barred, v.MaySuspend = cluster.AllWays&^cluster.WaySuspend, false }, []How{Wait, Wait, Wait, Wait, Wait}},
	} {
		v := able
		tt.change(&v)
		var got []How
		for _, way := range Ways[1:] {
			got = append(got, Means{Map: way, Reduce: way}.Choose(v))
		}
		if !slices.Equal(got, tt.ways) {
			t.Errorf("%s: %v of %v, want %v", name, got, Ways[1:], tt.ways)
		}
	}
}

// TestBarredWaysAreNeverTaken goes through all victims: what is chosen is not barred,
// and Auto finds something that keeps work wherever there is something.
func TestBarredWaysAreNeverTaken(t *testing.T) {
	bits := map[How]cluster.Ways{Split: cluster.WaySplit, Checkpoint: cluster.WayCheckpoint, Suspend: cluster.WaySuspend, Kill: cluster.WayKill}
	for barred := range cluster.AllWays + 1 {
		for shape := range 16 {
			v := Victim{
				Barred: barred, Elapsed: 1e6, Remaining: 1e6,
				Reduce: shape&1 > 0, Splits: shape&2 > 0, MaySuspend: shape&4 > 0,
			}
			for _, way := range Ways {
				m := Means{Map: way, Reduce: way, Costs: Costs{MemoryShort: shape&8 > 0}}
				got := m.Choose(v)
				if got != Wait && barred.Has(bits[got]) {
					t.Errorf("%s of %+v: %s", way, v, got)
				}
				if got == Split && (v.Reduce || !v.Splits) || got == Suspend && !v.MaySuspend {
					t.Errorf("%s of %+v: %s, which it cannot", way, v, got)
				}
				if way == Auto && !barred.Has(cluster.WayCheckpoint) && (got == Kill || got == Wait) {
					t.Errorf("%s of %+v: %s, and its work could be kept", way, v, got)
				}
			}
		}
	}
}
