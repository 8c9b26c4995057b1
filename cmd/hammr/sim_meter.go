package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hammr/hammr/internal/console"
)

// simMeter is a line on a terminal that tells how far a run is; elsewhere it says
// nothing.
type simMeter struct {
	terminal *os.File // nil for none
	drawn    time.Time
}

const (
	meterCells    = 24
	meterInterval = 100 * time.Millisecond
)

func newSimMeter(stderr io.Writer, quiet bool) *simMeter {
	m := new(simMeter)
	if f, ok := stderr.(*os.File); ok && !quiet && console.IsTerminal(f) {
		m.terminal = f
	}
	return m
}

// watch is what a run of so many jobs calls while it goes on; nil when nobody
// looks.
func (m *simMeter) watch(run string, jobs int) func(over int, at int64) {
	if m.terminal == nil {
		return nil
	}
	return func(over int, at int64) {
		if now := time.Now(); now.Sub(m.drawn) >= meterInterval {
			m.drawn = now
			fmt.Fprintf(m.terminal, "\r%s\x1b[K", meterLine(run, over, jobs, at))
		}
	}
}

func meterLine(run string, over, jobs int, at int64) string {
	virtual := (time.Duration(at) * time.Millisecond).Truncate(time.Second)
	return fmt.Sprintf("%s %s %d of %d jobs  %v", run, console.Bar(float64(over)/float64(max(jobs, 1)), meterCells), over, jobs, virtual)
}

func (m *simMeter) clear() {
	if m.terminal != nil {
		fmt.Fprint(m.terminal, "\r\x1b[K")
	}
}
