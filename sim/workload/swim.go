package workload

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/kit/validate"
)

// SWIM controls how a SWIM trace becomes jobs: by the rules of SWIM's own replay, or
// unchanged.
//
// SWIM (Chen, Ganapathi, Griffith and Katz, "The Case for Evaluating MapReduce Performance
// Using Workload Suites", MASCOTS 2011) publishes traces of Facebook's clusters as sizes,
// and a script that replays them with synthetic jobs.
type SWIM struct {
	// Plain keeps the trace as it is: jobs arrive at the second column, jobs without shuffle
	// have no reduces, and sizes have no minimum. Scaling still applies. Without Plain the
	// rules of the replay apply; docs/sim.md lists them.
	Plain bool

	OriginalMachines int   // of the traced cluster; 0 is 600, as in FB-2009 (FB-2010: 3000)
	TargetMachines   int   // of the simulated cluster: sizes scale with it; 0 is OriginalMachines
	BlockBytes       int64 // of a map's input; 0 is 64 MiB
	BytesPerReduce   int64 // of shuffle and output together; 0 is 64 MiB
	MaxReduces       int   // limit for a job, with Plain; 0 is TargetMachines
}

// Constants in the code of SWIM's replay.
const (
	replayLeastInput = 64 << 20 // a block of a sequence file
	replayLeastBytes = 1024     // of shuffle, and of output
	replayFewer      = 5        // more reduces than nodes become nodes / 5
)

// EnsureDefaults replaces zero values by the defaults.
func (s *SWIM) EnsureDefaults() {
	s.OriginalMachines = cmp.Or(s.OriginalMachines, 600)
	s.TargetMachines = cmp.Or(s.TargetMachines, s.OriginalMachines)
	s.BlockBytes, s.BytesPerReduce = cmp.Or(s.BlockBytes, 64<<20), cmp.Or(s.BytesPerReduce, 64<<20)
	s.MaxReduces = cmp.Or(s.MaxReduces, s.TargetMachines)
}

// Validate reports every error of options with their defaults.
func (s *SWIM) Validate() error {
	return errors.Join(
		validate.That(min(s.OriginalMachines, s.TargetMachines, s.MaxReduces) >= 0,
			"SWIM with %d original nodes, %d target nodes, %d reduces at most, expected 0 or more", s.OriginalMachines, s.TargetMachines, s.MaxReduces),
		validate.That(min(s.BlockBytes, s.BytesPerReduce) >= 0 && s.BlockBytes <= MaxBytes,
			"SWIM with blocks of %d bytes and %d bytes a reduce, expected 1 to %d", s.BlockBytes, s.BytesPerReduce, int64(MaxBytes)),
	)
}

// addJob adds the job of a line. n is the number of the line.
func (s *SWIM) addJob(c *collector, n int, l swimLine, m *Model) {
	s.scale(&l)
	maps, reduces := max(1, ceilDiv(l.input, s.BlockBytes)), s.reduces(l)
	if maps > MaxTasks || !c.allowTasks(n, maps+reduces) {
		if maps > MaxTasks {
			c.errorAt(n, "%d maps of %d bytes, expected at most %d", maps, s.BlockBytes, MaxTasks)
		}
		return
	}
	j := Job{ID: l.id, Submit: 1000 * l.submit, SlowStart: -1, OutputBytes: max(1, l.output)}
	j.Maps = m.maps(j.ID, int(maps), l.input, s.BlockBytes)
	j.Reduces = m.reduces(j.ID, int(reduces), l.shuffle)
	c.addJob(n, j)
}

// scale scales sizes to the cluster, in whole bytes, and applies the minimum sizes of the
// replay. A trace of 600 machines on 100 then has a sixth of its bytes, and about the same
// load.
func (s *SWIM) scale(l *swimLine) {
	for _, size := range []*int64{&l.input, &l.shuffle, &l.output} {
		*size = mulDiv(*size, s.TargetMachines, s.OriginalMachines)
	}
	if !s.Plain {
		l.input = max(l.input, replayLeastInput)
		l.shuffle, l.output = max(l.shuffle, replayLeastBytes), max(l.output, replayLeastBytes)
	}
}

// reduces returns the number of reduces that the replay asks for, or that the trace suggests.
//
//	replay  round((shuffle + output) / BytesPerReduce), at least 1; above TargetMachines a fifth of them
//	plain   the same, at most MaxReduces; none without shuffle
func (s *SWIM) reduces(l swimLine) int64 {
	n := max(1, int64(math.Round(float64(l.shuffle+l.output)/float64(s.BytesPerReduce))))
	switch {
	case s.Plain && l.shuffle == 0:
		return 0
	case s.Plain:
		return min(n, int64(s.MaxReduces))
	case n > int64(s.TargetMachines):
		return int64(max(1, s.TargetMachines/replayFewer))
	}
	return n
}

// ceilDiv returns a/b rounded up. It does not overflow, as (a+b-1)/b would.
func ceilDiv(a, b int64) int64 {
	n := a / b
	if a%b > 0 {
		n++
	}
	return n
}

// mulDiv returns x·a/b without overflow. For a result above MaxBytes it returns MaxBytes +
// 1.
func mulDiv(x int64, a, b int) int64 {
	high, low := bits.Mul64(uint64(x), uint64(a))
	if high >= uint64(b) {
		return MaxBytes + 1
	}
	quotient, _ := bits.Div64(high, low, uint64(b))
	return int64(min(quotient, MaxBytes+1))
}

// swimLine is a line of a trace. Columns after the sixth are not used.
type swimLine struct {
	id                     string
	submit, gap            int64 // s
	input, shuffle, output int64 // bytes
}

// ReadSWIM reads a SWIM trace; the Model gives times. source names the input in errors.
//
//	id TAB submit s TAB gap s TAB input bytes TAB shuffle bytes TAB output bytes [TAB path]
func ReadSWIM(r io.Reader, source string, o Options) (*Workload, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	c := newCollector(source, o.MaxTasks)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSWIMLine)
	var replayed, last int64 // time of the replay, and the second column of the line before, s
	for n := 1; lines.Scan(); n++ {
		l, ok := c.swimLine(n, lines.Text())
		if !ok {
			continue
		}
		if l.submit < last {
			c.errorAt(n, "job %q arrives at %d s, before the previous job at %d s; expected order of arrival", l.id, l.submit, last)
			continue
		}
		last = l.submit
		if !o.SWIM.Plain {
			// The script starts a job and then sleeps for the gap on its line, so the gap
			// passes after the job, not before it.
			l.submit, replayed = replayed, min(replayed+l.gap, MaxMillis)
		}
		o.SWIM.addJob(c, n, l, &o.Model)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s: a line of more than %d bytes, expected six columns separated by tabs", source, maxSWIMLine)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return c.workload()
}

// maxSWIMLine is the greatest length of a line; the seventh column is one path.
const maxSWIMLine = 1 << 20

// swimLine parses a line of six or seven columns, with empty ones after them, and reports
// errors.
func (c *collector) swimLine(n int, text string) (l swimLine, ok bool) {
	fields := strings.Split(strings.TrimRight(text, "\t\r "), "\t")
	if len(fields) < 6 || len(fields) > 7 {
		c.errorAt(n, "%d columns, expected 6 (job, submit s, gap s, input, shuffle and output bytes) or 7 (and a path), separated by tabs", len(fields))
		return l, false
	}
	// All wrong columns of a line are reported.
	l.id, ok = fields[0], true
	for i, column := range []struct {
		name string
		to   *int64
		most int64
	}{
		{"submit time", &l.submit, MaxMillis / 1000}, {"gap", &l.gap, MaxMillis / 1000},
		{"input bytes", &l.input, MaxBytes}, {"shuffle bytes", &l.shuffle, MaxBytes}, {"output bytes", &l.output, MaxBytes},
	} {
		x, err := strconv.ParseInt(strings.TrimSpace(fields[i+1]), 10, 64)
		if err != nil || x < 0 || x > column.most {
			c.errorAt(n, "column %d, %s: %q, expected a whole number from 0 to %d", i+2, column.name, fields[i+1], column.most)
			ok = false
		}
		*column.to = x
	}
	return l, ok
}
