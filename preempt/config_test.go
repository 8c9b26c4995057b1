package preempt

import (
	"slices"
	"testing"
)

// TestNamedModes checks the fallback from a mode that a victim does not allow.
func TestNamedModes(t *testing.T) {
	keeping := SetOf(Split, Checkpoint, Suspend)
	able := Victim{Elapsed: 1000, Remaining: 1000, CanSplit: true, CanSuspend: true}
	for name, tt := range map[string]struct {
		change func(*Victim)
		modes  []Mode // mode chosen for each of Modes without Auto
	}{
		"bears all":             {func(*Victim) {}, []Mode{Wait, Split, Checkpoint, Suspend, Kill}},
		"a reduce":              {func(v *Victim) { v.Reduce = true }, []Mode{Wait, Checkpoint, Checkpoint, Suspend, Kill}},
		"cannot be cut":         {func(v *Victim) { v.CanSplit = false }, []Mode{Wait, Checkpoint, Checkpoint, Suspend, Kill}},
		"a full machine":        {func(v *Victim) { v.CanSuspend = false }, []Mode{Wait, Split, Checkpoint, Wait, Kill}},
		"nothing is known":      {func(v *Victim) { v.Remaining = -1 }, []Mode{Wait, Wait, Wait, Wait, Wait}},
		"no split":              {func(v *Victim) { v.DisallowedModes = SetOf(Split) }, []Mode{Wait, Checkpoint, Checkpoint, Suspend, Kill}},
		"cannot be resumed":     {func(v *Victim) { v.DisallowedModes = SetOf(Split, Checkpoint) }, []Mode{Wait, Suspend, Suspend, Suspend, Kill}},
		"keeps no work":         {func(v *Victim) { v.DisallowedModes = keeping }, []Mode{Wait, Kill, Kill, Kill, Kill}},
		"must not lose any":     {func(v *Victim) { v.DisallowedModes = SetOf(Kill) }, []Mode{Wait, Split, Checkpoint, Suspend, Wait}},
		"bears nothing":         {func(v *Victim) { v.DisallowedModes = AllModes }, []Mode{Wait, Wait, Wait, Wait, Wait}},
		"suspension or nothing": {func(v *Victim) { v.DisallowedModes, v.CanSuspend = AllModes&^SetOf(Suspend), false }, []Mode{Wait, Wait, Wait, Wait, Wait}},
	} {
		v := able
		tt.change(&v)
		var got []Mode
		for _, mode := range Modes[1:] {
			got = append(got, Config{Map: mode, Reduce: mode}.Choose(v))
		}
		if !slices.Equal(got, tt.modes) {
			t.Errorf("%s: %v of %v, want %v", name, got, Modes[1:], tt.modes)
		}
	}
}

// TestDisallowedModesAreNeverChosen visits all victims: the chosen mode is allowed, and Auto keeps
// the work wherever that is possible.
func TestDisallowedModesAreNeverChosen(t *testing.T) {
	for disallowed := range AllModes + 1 {
		for shape := range 16 {
			v := Victim{
				DisallowedModes: disallowed, Elapsed: 1e6, Remaining: 1e6,
				Reduce: shape&1 > 0, CanSplit: shape&2 > 0, CanSuspend: shape&4 > 0,
			}
			for _, mode := range Modes {
				m := Config{Map: mode, Reduce: mode, Costs: Costs{MemoryShort: shape&8 > 0}}
				got := m.Choose(v)
				if disallowed.Has(got) {
					t.Errorf("%s of %+v: %s", mode, v, got)
				}
				if got == Split && (v.Reduce || !v.CanSplit) || got == Suspend && !v.CanSuspend {
					t.Errorf("%s of %+v: %s, which it cannot", mode, v, got)
				}
				if mode == Auto && !disallowed.Has(Checkpoint) && (got == Kill || got == Wait) {
					t.Errorf("%s of %+v: %s, and its work could be kept", mode, v, got)
				}
			}
		}
	}
}
