package preempt

import "testing"

// victim is a Victim that allows every mode, has run for a minute and would run for another
// minute.
func victim(change func(*Victim)) Victim {
	v := Victim{Elapsed: 60_000, Remaining: 60_000, CanSplit: true, CanSuspend: true}
	change(&v)
	return v
}

const mb = 1_000_000

// TestCheapestMode checks the choice of Auto for known values of attempts and machines, at
// 100 MB/s and 500 ms to publish a map.
func TestCheapestMode(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Victim)
		costs  Costs
		want   Mode
	}{
		"nothing is known":                  {func(*Victim) {}, Costs{}, Suspend},
		"memory is short by setting":        {func(*Victim) {}, Costs{MemoryShort: true}, Split},
		"a reduce, short by setting":        {func(v *Victim) { v.Reduce = true }, Costs{MemoryShort: true}, Suspend},
		"a roomy machine":                   {func(v *Victim) { v.Memory, v.Headroom = 100*mb, &MemHeadroom{Free: 16_000 * mb} }, Costs{}, Suspend},
		"a roomy machine, whatever was set": {func(v *Victim) { v.Memory, v.Headroom = 100*mb, &MemHeadroom{Free: 16_000 * mb} }, Costs{MemoryShort: true}, Suspend},
		"half of the headroom is missed":    {func(v *Victim) { v.Memory, v.Headroom = 1000*mb, &MemHeadroom{Free: 2000 * mb} }, Costs{}, Split},
		"a reduce with little to write": {func(v *Victim) {
			v.Reduce, v.Memory, v.Unwritten, v.Headroom = true, 1000*mb, 10*mb, &MemHeadroom{Free: 2000 * mb}
		}, Costs{}, Checkpoint},
		"a reduce with all to write": {func(v *Victim) {
			v.Reduce, v.Memory, v.Unwritten, v.Headroom = true, 1000*mb, 1000*mb, &MemHeadroom{Free: 2000 * mb}
		}, Costs{}, Suspend},
		"a full machine that swaps": {func(v *Victim) {
			v.Reduce, v.Memory, v.Unwritten, v.Headroom = true, 1000*mb, 990*mb, &MemHeadroom{Swap: 4000 * mb}
		}, Costs{}, Suspend},
		"a full machine that cannot": {func(v *Victim) {
			v.Reduce, v.Memory, v.Unwritten, v.Headroom = true, 1000*mb, 990*mb, &MemHeadroom{Swap: 900 * mb}
		}, Costs{}, Checkpoint},
		"a full machine, a small task":  {func(v *Victim) { v.Memory, v.Headroom = 10*mb, &MemHeadroom{Swap: 4000 * mb} }, Costs{}, Suspend},
		"of a machine nothing is known": {func(v *Victim) { v.Reduce, v.Memory, v.Unwritten = true, 1000*mb, 10*mb }, Costs{}, Suspend},
		"a slow disk, much to write":    {func(v *Victim) { v.Memory, v.Unwritten, v.Headroom = 1000*mb, 500*mb, &MemHeadroom{Free: 1500 * mb} }, Costs{DiskRate: 10 * mb}, Split},
		"a slow disk, and a second done so far": {func(v *Victim) {
			v.Elapsed, v.Memory, v.Unwritten, v.Headroom = 1000, 1000*mb, 500*mb, &MemHeadroom{Free: 1500 * mb}
		}, Costs{DiskRate: 10 * mb}, Kill},
		"publishing is quick":                  {func(v *Victim) { v.Memory, v.Headroom = 100*mb, &MemHeadroom{Free: 1000 * mb} }, Costs{SplitMillis: 50}, Split},
		"publishing is slow":                   {func(v *Victim) { v.Memory, v.Headroom = 100*mb, &MemHeadroom{Free: 1000 * mb} }, Costs{}, Suspend},
		"it is nearly done":                    {func(v *Victim) { v.Remaining, v.Memory, v.Headroom = 400, 1000*mb, &MemHeadroom{Free: 1500 * mb} }, Costs{}, Wait},
		"it is done as soon as it is heard of": {func(v *Victim) { v.Remaining = 300 }, Costs{}, Wait},
	} {
		if got := (Config{Map: Auto, Reduce: Auto, Costs: tt.costs}).Choose(victim(tt.change)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestNoSuspensionBeyondMemory checks a machine that has too little memory for another task
// next to a suspended one.
func TestNoSuspensionBeyondMemory(t *testing.T) {
	full := victim(func(v *Victim) { v.Memory, v.Headroom = 1000*mb, &MemHeadroom{Free: 600 * mb, Swap: 399 * mb} })
	if got := (Config{Map: Suspend}).Choose(full); got != Wait {
		t.Errorf("%s: there is no memory to suspend it", got)
	}
	full.Headroom.Swap += mb
	if got := (Config{Map: Suspend}).Choose(full); got != Suspend {
		t.Errorf("%s: there is memory to suspend it", got)
	}
}

// TestSuspensionCostsMoreTheLessIsFree checks that the cost does not fall when less memory
// is free or the task is larger.
func TestSuspensionCostsMoreTheLessIsFree(t *testing.T) {
	costs, last := Costs{}.WithDefaults(), int64(-1)
	for free := int64(20_000); free >= 0; free -= 100 {
		cost := costs.suspendCost(Victim{Footprint: Footprint{Memory: 1000 * mb, Headroom: &MemHeadroom{Free: free * mb}}})
		if cost < last {
			t.Fatalf("%d MB free: %d ms, with more it was %d", free, cost, last)
		}
		last = cost
	}
	if last != 20_000 {
		t.Errorf("with nothing free: %d ms, not twice 1 GB at 100 MB/s", last)
	}
	for memory, last := int64(100), int64(-1); memory < 5000; memory += 100 {
		cost := costs.suspendCost(Victim{Footprint: Footprint{Memory: memory * mb, Headroom: &MemHeadroom{Free: 2000 * mb}}})
		if cost < last {
			t.Fatalf("%d MB: %d ms, less than a smaller one", memory, cost)
		}
		last = cost
	}
}

// TestGangIsSuspendedIfAllMembersCanBe checks that the cost of a gang is the cost on its
// fullest machine, in any order.
func TestGangIsSuspendedIfAllMembersCanBe(t *testing.T) {
	roomy := Footprint{Memory: 100 * mb, Headroom: &MemHeadroom{Free: 16_000 * mb}}
	tight := Footprint{Memory: 1000 * mb, Headroom: &MemHeadroom{Free: 2000 * mb}}
	full := Footprint{Memory: 1000 * mb, Headroom: &MemHeadroom{Free: 600 * mb}}
	for _, tt := range []struct {
		first, second Footprint
		cost          int64
		mode          Mode
	}{
		{roomy, roomy, 12, Suspend},
		{roomy, tight, 10_000, Suspend},
		{tight, roomy, 10_000, Suspend},
		{roomy, full, 20_000, Wait},
		{full, roomy, 20_000, Wait},
	} {
		v := victim(func(v *Victim) { v.Footprint, v.Others = tt.first, []Footprint{tt.second} })
		if cost := (Costs{}).WithDefaults().suspendCost(v); cost != tt.cost {
			t.Errorf("%+v: %d ms", v, cost)
		}
		if mode := (Config{Map: Suspend}).Choose(v); mode != tt.mode {
			t.Errorf("%+v: %s", v, mode)
		}
	}
}
