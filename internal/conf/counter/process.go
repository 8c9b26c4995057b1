package counter

import (
	"runtime/metrics"
	"sync"
	"time"
)

// usage is what the operating system and the Go runtime report about this process.
type usage struct {
	cpu           time.Duration // user and system time
	gc            time.Duration // CPU time of garbage collection, estimated by the runtime
	rss           int64         // resident memory in bytes
	virtual       int64         // address space in bytes
	peakRSS       int64         // highest rss so far
	peakVirtual   int64         // highest virtual so far
	heapCommitted int64         // bytes of the Go heap that are backed by memory
}

// Process measures the resources that attempts use in their process.
//
// A task process runs one attempt, and the attempt's figures are the figures of the process.
// In the embedded engine attempts are goroutines, whose memory and CPU time cannot be
// measured separately. Each attempt is then charged an equal share of what the process used
// while the attempt ran, so that the sum over the job equals the use of the process. The
// Peak counters are of the whole process in both cases.
//
// The zero value is ready for use. It is safe for concurrent use.
type Process struct {
	mu struct {
		sync.Mutex
		running map[*Attempt]bool
		last    usage // usage at the latest Begin or End
	}
	read func() usage // nil stands for readUsage; set in tests
}

// Attempt measures one attempt from Begin to End.
type Attempt struct {
	process *Process
	cpu     time.Duration // CPU time charged so far
	gc      time.Duration
}

// Begin starts to charge an attempt. End stops it.
func (p *Process) Begin() *Attempt {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chargeLocked()
	if p.mu.running == nil {
		p.mu.running = make(map[*Attempt]bool)
	}
	a := &Attempt{process: p}
	p.mu.running[a] = true
	return a
}

// End stops charging the attempt and adds its usage to the set. It may be called once.
func (a *Attempt) End(s *Set, reduce bool) {
	p := a.process
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.chargeLocked()
	sharers := int64(len(p.mu.running))
	delete(p.mu.running, a)

	s.Add(CPUTimeMillis, a.cpu.Milliseconds())
	s.Add(GCTimeMillis, a.gc.Milliseconds())
	s.Add(PhysicalMemoryBytes, now.rss/sharers)
	s.Add(VirtualMemoryBytes, now.virtual/sharers)
	s.Add(CommittedHeapBytes, now.heapCommitted/sharers)
	physical, virtual := PeakMapPhysicalBytes, PeakMapVirtualBytes
	if reduce {
		physical, virtual = PeakReducePhysicalBytes, PeakReduceVirtualBytes
	}
	s.Counter(physical).Max(now.peakRSS)
	s.Counter(virtual).Max(now.peakVirtual)
}

// chargeLocked divides the usage since the last call among the attempts that ran, and
// returns the usage so far.
func (p *Process) chargeLocked() usage {
	read := p.read
	if read == nil {
		read = readUsage
	}
	now := read()
	if n := time.Duration(len(p.mu.running)); n > 0 {
		for a := range p.mu.running {
			a.cpu += (now.cpu - p.mu.last.cpu) / n
			a.gc += (now.gc - p.mu.last.gc) / n
		}
	}
	p.mu.last = now
	return now
}

// readUsage measures this process. A value that the platform does not report is 0.
func readUsage() usage {
	u := systemUsage()
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	if samples[0].Value.Kind() == metrics.KindFloat64 {
		u.gc = time.Duration(samples[0].Value.Float64() * float64(time.Second))
	}
	for _, s := range samples[1:] {
		if s.Value.Kind() == metrics.KindUint64 {
			u.heapCommitted += int64(s.Value.Uint64())
		}
	}
	return u
}
