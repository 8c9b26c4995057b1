package counter

import (
	"runtime"
	"testing"
	"time"
)

// fakeProcess returns a process whose resource usage is set by the test.
func fakeProcess(now *usage) *Process {
	return &Process{read: func() usage { return *now }}
}

func TestAttemptsShareTheProcess(t *testing.T) {
	now := usage{cpu: 5 * time.Second, rss: 900, peakRSS: 1000}
	p := fakeProcess(&now)
	var first, second Set

	a := p.Begin()
	now.cpu += 2 * time.Second // only a runs
	b := p.Begin()
	now.cpu += 4 * time.Second // a and b run
	now.gc += 2 * time.Second
	a.End(&first, false)
	now.cpu += time.Second // only b runs
	b.End(&second, true)
	now.cpu += time.Hour // no attempt runs

	for _, c := range []struct {
		set  *Set
		id   ID
		want int64
	}{
		{&first, CPUTimeMillis, 4000},
		{&second, CPUTimeMillis, 3000},
		{&first, GCTimeMillis, 1000},
		{&second, GCTimeMillis, 1000},
		{&first, PhysicalMemoryBytes, 450},
		{&second, PhysicalMemoryBytes, 900},
		{&first, PeakMapPhysicalBytes, 1000},
		{&second, PeakReducePhysicalBytes, 1000},
		{&second, PeakMapPhysicalBytes, 0},
	} {
		if got := c.set.Values().Get(c.id); got != c.want {
			t.Errorf("%s = %d, want %d", c.id.Name, got, c.want)
		}
	}
}

func TestLaterAttemptIsNotChargedForThePreemption(t *testing.T) {
	var now usage
	p := fakeProcess(&now)
	p.Begin().End(new(Set), false)
	now.cpu += time.Hour
	a := p.Begin()
	now.cpu += time.Second
	var s Set
	a.End(&s, false)
	if got := s.Values().Get(CPUTimeMillis); got != 1000 {
		t.Errorf("CPU time = %d ms, want 1000", got)
	}
}

func TestThisProcessIsMeasured(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports memory and CPU time")
	}
	runtime.GC()
	u := readUsage()
	if u.cpu <= 0 || u.gc <= 0 || u.rss <= 0 || u.virtual < u.rss || u.peakRSS < u.rss/2 || u.heapCommitted <= 0 {
		t.Errorf("usage of this process: %+v", u)
	}
}
