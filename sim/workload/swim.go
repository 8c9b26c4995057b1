package workload

import (
	"math"
	"math/bits"
)

// SWIM says how a SWIM trace becomes jobs: by the rules of its own replay, or
// as the trace stands.
type SWIM struct {
	// Plain keeps the trace as it stands: jobs arrive when the second column
	// says, jobs that shuffle nothing have no reduces, and no size is raised
	// to a least one. Scaling holds all the same. False is the replay's rules,
	// as docs/sim.md lists them.
	Plain bool

	OriginalNodes  int   // of the cluster that was traced; 0 is 600, as of FB-2009 (FB-2010: 3000)
	TargetNodes    int   // of the cluster to run on: sizes shrink with it; 0 is OriginalNodes
	BlockBytes     int64 // of input to a map; 0 is 64 MiB
	BytesPerReduce int64 // shuffled and written; 0 is 64 MiB
	MaxReduces     int   // of a job when Plain, so many at most; 0 is TargetNodes
}

// What the replay of SWIM has in its code.
const (
	replayLeastInput = 64 << 20 // a block of a sequence file
	replayLeastBytes = 1024     // of shuffle and output
	replayFewer      = 5        // more reduces than nodes become nodes / 5
)

// EnsureDefaults fills in what is 0.
func (s *SWIM) EnsureDefaults() {
	if s.OriginalNodes == 0 {
		s.OriginalNodes = 600
	}
	if s.TargetNodes == 0 {
		s.TargetNodes = s.OriginalNodes
	}
	if s.BlockBytes == 0 {
		s.BlockBytes = 64 << 20
	}
	if s.BytesPerReduce == 0 {
		s.BytesPerReduce = 64 << 20
	}
	if s.MaxReduces == 0 {
		s.MaxReduces = s.TargetNodes
	}
}

// Validate names every fault of options whose defaults are filled in.
func (s *SWIM) Validate() error {
	var f problems
	if s.OriginalNodes < 0 || s.TargetNodes < 0 || s.MaxReduces < 0 {
		f.add("SWIM with %d original nodes, %d target nodes, %d reduces at most, expected none below 0", s.OriginalNodes, s.TargetNodes, s.MaxReduces)
	}
	if s.BlockBytes < 0 || s.BytesPerReduce < 0 || s.BlockBytes > MaxBytes {
		f.add("SWIM with blocks of %d bytes and %d bytes a reduce, expected 1 to %d", s.BlockBytes, s.BytesPerReduce, int64(MaxBytes))
	}
	return f.err()
}

// addJob makes a job of a line.
func (s *SWIM) addJob(c *collector, n int, l swimLine, m *Model) {
	s.scale(&l)
	maps, reduces := max(1, ceilDiv(l.input, s.BlockBytes)), s.reduces(l)
	if maps > MaxTasks || !c.allowTasks(n, maps+reduces) {
		if maps > MaxTasks {
			c.errorAt(n, "%d maps of %d bytes, expected at most %d", maps, s.BlockBytes, MaxTasks)
		}
		return
	}
	j := Job{ID: l.id, Submit: 1000 * l.submit, SlowStart: -1}
	j.Maps = m.maps(j.ID, int(maps), l.input, s.BlockBytes)
	j.Reduces = m.reduces(j.ID, int(reduces), l.shuffle)
	c.addJob(n, j)
}

// scale shrinks sizes with the cluster, in whole bytes, and raises them to what
// the replay has at least.
func (s *SWIM) scale(l *swimLine) {
	for _, size := range []*int64{&l.input, &l.shuffle, &l.output} {
		*size = mulDiv(*size, s.TargetNodes, s.OriginalNodes)
	}
	if !s.Plain {
		l.input = max(l.input, replayLeastInput)
		l.shuffle, l.output = max(l.shuffle, replayLeastBytes), max(l.output, replayLeastBytes)
	}
}

// reduces is how many reduces the replay asks for, or the trace suggests.
func (s *SWIM) reduces(l swimLine) int64 {
	n := max(1, int64(math.Round(float64(l.shuffle+l.output)/float64(s.BytesPerReduce))))
	switch {
	case s.Plain && l.shuffle == 0:
		return 0
	case s.Plain:
		return min(n, int64(s.MaxReduces))
	case n > int64(s.TargetNodes):
		return int64(max(1, s.TargetNodes/replayFewer))
	}
	return n
}

func ceilDiv(a, b int64) int64 {
	n := a / b
	if a%b > 0 {
		n++
	}
	return n
}

// mulDiv is x·a/b in whole numbers, without overflow between; more than
// MaxBytes is one byte more.
func mulDiv(x int64, a, b int) int64 {
	high, low := bits.Mul64(uint64(x), uint64(a))
	if high >= uint64(b) {
		return MaxBytes + 1
	}
	quotient, _ := bits.Div64(high, low, uint64(b))
	return int64(min(quotient, MaxBytes+1))
}
