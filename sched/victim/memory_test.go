package victim

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

const gb = 1_000_000_000

// measured starts equal attempts on machines of known memory.
type measured struct {
	each      sched.Progress
	headrooms map[string]preempt.MemHeadroom
}

func (m measured) Progress(cluster.AttemptID) (sched.Progress, bool) { return m.each, true }

func (m measured) MemHeadroom(machine string) (r preempt.MemHeadroom, ok bool) {
	r, ok = m.headrooms[machine]
	return r, ok
}

// TestMemoryDecides takes slots of four maps with 1 GB each, on a machine with four slots,
// in the cheapest mode and in a fixed one: the memory of each suspended attempt counts for
// the next.
func TestMemoryDecides(t *testing.T) {
	const (
		split, stop, wait = preempt.Split, preempt.Suspend, preempt.Wait
	)
	for name, tt := range map[string]struct {
		mode      preempt.Mode
		unwritten int64
		headroom  preempt.MemHeadroom // of m; no Free: unknown
		want      []preempt.Mode
	}{
		"unknown":                      {preempt.Auto, 0, preempt.MemHeadroom{}, []preempt.Mode{stop, stop, stop, stop}},
		"plenty":                       {preempt.Auto, 0, preempt.MemHeadroom{Free: 100 * gb}, []preempt.Mode{stop, stop, stop, stop}},
		"little":                       {preempt.Auto, 0, preempt.MemHeadroom{Free: 4 * gb}, []preempt.Mode{split, split, split, split}},
		"little, and much to write":    {preempt.Auto, gb / 2, preempt.MemHeadroom{Free: 5 * gb}, []preempt.Mode{stop, stop, split, split}},
		"for two, by name":             {preempt.Suspend, 0, preempt.MemHeadroom{Free: 2 * gb}, []preempt.Mode{stop, stop, wait, wait}},
		"for two, one of them swapped": {preempt.Suspend, 0, preempt.MemHeadroom{Free: gb, Swap: gb}, []preempt.Mode{stop, stop, wait, wait}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, dag.MapReduce(4, 0))
			for n := range 4 {
				s.Start(s.job, 0, n, "m")
			}
			s.Now += 100_000
			progress := measured{each: sched.Progress{ReportedAt: s.Now, Fraction: .5, Memory: gb, Unwritten: tt.unwritten}}
			if tt.headroom.Free > 0 {
				progress.headrooms = map[string]preempt.MemHeadroom{"m": tt.headroom}
			}
			s.SoftState = progress
			f := s.finder(preempt.Config{Map: tt.mode})
			var got []preempt.Mode
			for _, v := range s.among(f, cluster.MapSlot) {
				p, ok := f.Take(v, "test")
				if !ok {
					p.Mode = wait
				}
				got = append(got, p.Mode)
			}
			want(t, "taken", got, fmt.Sprint(tt.want))
		})
	}
}

// TestAVictimThatMayNotBeSuspendedIsNotTaken refuses the first suspension: the machine has the memory of the refused
// attempt still, and the attempt can be taken later.
func TestAVictimThatMayNotBeSuspendedIsNotTaken(t *testing.T) {
	s := newFixture(t, dag.MapReduce(2, 0))
	for n := range 2 {
		s.Start(s.job, 0, n, "m")
	}
	s.Now += 100_000
	s.SoftState = measured{sched.Progress{ReportedAt: s.Now, Fraction: .5, Memory: gb}, map[string]preempt.MemHeadroom{"m": {Free: gb}}}
	f := s.finder(preempt.Config{Map: preempt.Suspend})
	asked := 0
	f.MaySuspend = func() bool { asked++; return asked > 1 }
	victims := s.among(f, cluster.MapSlot)
	if p, ok := f.Take(victims[0], "test"); ok {
		t.Errorf("taken although it may not be suspended: %+v", p)
	}
	if p, ok := f.Take(victims[1], "test"); !ok || p.Mode != preempt.Suspend {
		t.Errorf("the machine has memory for one suspended attempt: %+v, %v", p, ok)
	}
	if _, ok := f.Take(victims[0], "test"); ok {
		t.Error("the machine has memory for two suspended attempts")
	}
}
