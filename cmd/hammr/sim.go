package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/console"
)

func newSim() *cobra.Command {
	return group(&cobra.Command{
		Use:   "sim",
		Short: "Simulate schedulers in virtual time",
		Example: "  hammr sim run --workload jobs.csv --policy fifo --nodes 100 --out results\n" +
			"  hammr sim whatif --history histories --policy hfsp --nodes 20\n" +
			"  hammr sim fluid --discipline psbs --jobs jobs.csv --out sojourns.csv",
	}, newSimRun(), newSimWhatif(), newSimFluid())
}

// simMeter is a line on a terminal that shows the progress of a run. Without a terminal it shows nothing.
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

// onProgress is Config.OnProgress of a run; nil without a terminal.
func (m *simMeter) onProgress(run string, jobs int) func(finished int, at int64) {
	if m.terminal == nil {
		return nil
	}
	return func(finished int, at int64) {
		if now := time.Now(); now.Sub(m.drawn) >= meterInterval {
			m.drawn = now
			fmt.Fprintf(m.terminal, "\r%s\x1b[K", meterLine(run, finished, jobs, at))
		}
	}
}

func meterLine(run string, finished, jobs int, at int64) string {
	virtual := (time.Duration(at) * time.Millisecond).Truncate(time.Second)
	return fmt.Sprintf("%s %s %d of %d jobs  %v", run, console.Bar(float64(finished)/float64(max(jobs, 1)), meterCells), finished, jobs, virtual)
}

func (m *simMeter) clear() {
	if m.terminal != nil {
		fmt.Fprint(m.terminal, "\r\x1b[K")
	}
}
