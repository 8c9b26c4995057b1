package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client/console"
)

// newSim asks no daemon: the simulator runs in this process. Its commands exit with 2 for
// wrong flags, settings and input, and report them before the first run. They exit with 1 if
// a run fails.
func newSim() *cobra.Command {
	return group(&cobra.Command{
		Use:   "sim",
		Short: "Simulate schedulers in virtual time",
		Example: "  hammr sim run --workload jobs.csv --policy fifo --nodes 100 --out results\n" +
			"  hammr sim verify fifo\n" +
			"  hammr sim whatif --history histories --policy hfsp --nodes 20\n" +
			"  hammr sim fluid --discipline psbs --jobs jobs.csv --out sojourns.csv",
	}, newSimRun(), newSimWhatif(), newSimFluid(), newSimVerify())
}

// statusLine is the last line of a terminal, which shows the progress of runs. Without a
// terminal it shows nothing.
type statusLine struct {
	terminal *os.File  // nil without a terminal
	drawn    time.Time // time of onProgress's last line
}

const (
	meterCells    = 24
	meterInterval = 100 * time.Millisecond // between two frames of a run
)

func newStatusLine(stderr io.Writer, quiet bool) *statusLine {
	l := new(statusLine)
	if f, ok := stderr.(*os.File); ok && !quiet && console.IsTerminal(f) {
		l.terminal = f
	}
	return l
}

func (l *statusLine) show(text string) {
	if l.terminal != nil {
		fmt.Fprintf(l.terminal, "\r%s\x1b[K", text)
	}
}

func (l *statusLine) clear() { l.show("") }

// showRuns shows the number of finished runs.
func (l *statusLine) showRuns(done, all int) { l.show(fmt.Sprintf("%d of %d runs", done, all)) }

// onProgress returns the function for Config.OnProgress of a run. It returns nil without a
// terminal, which saves the simulator the calls.
func (l *statusLine) onProgress(run string, jobs int) func(finished int, at int64) {
	if l.terminal == nil {
		return nil
	}
	return func(finished int, at int64) {
		if now := time.Now(); now.Sub(l.drawn) >= meterInterval {
			l.drawn = now
			l.show(meterLine(run, finished, jobs, at))
		}
	}
}

// meterLine returns a bar of the finished jobs, and the virtual time.
func meterLine(run string, finished, jobs int, at int64) string {
	virtual := (time.Duration(at) * time.Millisecond).Truncate(time.Second)
	return fmt.Sprintf("%s %s %d of %d jobs  %v", run, console.Bar(float64(finished)/float64(max(jobs, 1)), meterCells), finished, jobs, virtual)
}
