package e2e

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestSignals ends a job in the middle of a map and of a reduce. The exit code is the one for
// Ctrl-C, and nothing is left: no output, no temporary file.
func TestSignals(t *testing.T) {
	in := binaryLines(t, "in", 2<<20)
	for _, phase := range []string{"map", "reduce"} {
		for name, sig := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM} {
			t.Run(phase+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				out, local, doc := filepath.Join(dir, "out"), filepath.Join(dir, "local"), filepath.Join(dir, "report")
				g := newGate(t, phase, 1<<20)
				p := g.start(t, "-D", "mapreduce.cluster.local.dir="+local, "--report", doc, in, out)
				g.wait(t, p)
				must.Do(t, p.cmd.Process.Signal(sig))
				g.open()
				p.wait(t).want(t, 130, "killed")
				noOutput(t, out)
				wantNames(t, local)
				wantNames(t, dir, "local", "report")
				r, err := report.ReadFile(doc)
				must.Do(t, err)
				if r.State != report.Killed || len(r.Tasks) == 0 {
					t.Errorf("report of a killed job: %+v", r)
				}
			})
		}
	}
}

// TestSecondInterrupt sends a second signal while a task hangs. The signal ends the process
// at once, and it leaves nothing that looks like a complete output.
func TestSecondInterrupt(t *testing.T) {
	if signal.Ignored(syscall.SIGINT) {
		t.Skip("whoever started the test has it ignore SIGINT, and its children with it")
	}
	in := binaryLines(t, "in", 2<<20)
	out := filepath.Join(t.TempDir(), "out")
	g := newGate(t, "reduce", 1<<20)
	p := g.start(t, in, out)
	g.wait(t, p)
	// The program may receive the second signal while it handles the first. Then both have
	// the effect of one.
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	ended := make(chan result, 1)
	go func() { ended <- p.waitOnly(t) }()
	defer g.open()
	for {
		select {
		case r := <-ended:
			if p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
				t.Errorf("ended after %v with %v", r.took, p.cmd.ProcessState)
			}
			nothingWhole(t, out)
			if _, err := os.Stat(filepath.Join(out, "_temporary")); err != nil {
				t.Errorf("the reduce had not begun: %v", err)
			}
			return
		case <-tick.C:
			p.cmd.Process.Signal(syscall.SIGINT)
		}
	}
}
