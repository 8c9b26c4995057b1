package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// swimLine is a line of a trace.
type swimLine struct {
	id                     string
	submit, gap            int64 // s
	input, shuffle, output int64 // bytes
}

// ReadSWIM reads a trace of SWIM; Model gives the times. source names the input
// in errors.
func ReadSWIM(r io.Reader, source string, o Options) (*Workload, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	c := newCollector(source, o.MaxTasks)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSWIMLine)
	var replayed, last int64 // when the replay is, and the second column of the line before, s
	for n := 1; lines.Scan(); n++ {
		l, ok := c.swimLine(n, lines.Text())
		if !ok {
			continue
		}
		if l.submit < last {
			c.errorAt(n, "job %q arrives at %d s, before the job ahead of it at %d s; expected order of arrival", l.id, l.submit, last)
			continue
		}
		last = l.submit
		if !o.SWIM.Plain {
			// The script starts a job and then sleeps the gap on its line, so
			// the gap passes behind the job and not ahead of it.
			l.submit, replayed = replayed, min(replayed+l.gap, MaxMillis)
		}
		o.SWIM.addJob(c, n, l, &o.Model)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s: a line of more than %d bytes, expected six columns with tabs between", source, maxSWIMLine)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return c.workload()
}

// maxSWIMLine is how long a line may be; the seventh column is one path.
const maxSWIMLine = 1 << 20

// swimLine reads a line of six columns or seven, and empty ones behind them; it
// tells of what is wrong.
func (c *collector) swimLine(n int, text string) (l swimLine, ok bool) {
	fields := strings.Split(strings.TrimRight(text, "\t\r "), "\t")
	if len(fields) < 6 || len(fields) > 7 {
		c.errorAt(n, "%d columns, expected 6 (job, submit s, gap s, input, shuffle and output bytes) or 7 (and a path), with tabs between", len(fields))
		return l, false
	}
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
