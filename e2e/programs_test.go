package e2e

import (
	"errors"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
)

// programEnv names the user's program that the test's binary runs. The program has a bug.
const programEnv = "HAMMR_E2E_PROGRAM"

// programs are users' programs with bugs, by name. Each counts lines and fails at the line
// "bad".
var programs = map[string]func() *mr.Program{
	"fails":  func() *mr.Program { return lineCounter(func() error { return errors.New("bad is not welcome") }) },
	"exits":  func() *mr.Program { return lineCounter(func() error { os.Exit(7); return nil }) },
	"shout":  func() *mr.Program { return &mr.Program{Name: "shout", Jobs: []mr.Runnable{shout}} },
	"staged": func() *mr.Program { return &mr.Program{Name: "staged", Jobs: []mr.Runnable{staged}} },
	"doored": func() *mr.Program { return &mr.Program{Name: "doored", Jobs: []mr.Runnable{doored}} },
}

// startProgram starts one of the programs.
func startProgram(t *testing.T, name string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	return start(t, command{program: self, args: args, env: []string{programEnv + "=" + name}})
}

// submitProgram submits a job of one of the programs to a cluster, and returns its id.
func (e *engine) submitProgram(name string, args ...string) (jobID string) {
	e.t.Helper()
	self, err := os.Executable()
	must.Do(e.t, err)
	c := e.command(append([]string{"--quiet", "--detach"}, args...)...)
	c.program, c.env = self, append(c.env, programEnv+"="+name)
	r := start(e.t, c).wait(e.t)
	r.want(e.t, 0)
	return strings.TrimSpace(r.stdout)
}

// lineCounter counts equal lines. At the line "bad" its mapper calls fault.
func lineCounter(fault func() error) *mr.Program {
	mapper := mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[string, []byte]) error {
		if string(line) == "bad" {
			if err := fault(); err != nil {
				return err
			}
		}
		out.Emit("line", line)
		return nil
	})
	reducer := mr.ReduceFunc(func(_ *mr.Task, key string, lines iter.Seq[[]byte], out mr.Emitter[string, int64]) error {
		n := int64(0)
		for range lines {
			n++
		}
		out.Emit(key, n)
		return nil
	})
	job := mr.New("lines", mr.TextLines(), mapper, reducer, mr.TextOutput[string, int64]())
	return &mr.Program{Name: "lines", Jobs: []mr.Runnable{job}}
}
