package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// foreignProgram returns a program for another architecture.
func foreignProgram(t *testing.T) string {
	t.Helper()
	image := readFile(t, hammr)
	image[18], image[19] = 43, 0 // EM_SPARCV9
	path := filepath.Join(t.TempDir(), "foreign")
	must.Do(t, os.WriteFile(path, image, 0o755))
	return path
}

// TestProgramsThatTasksCannotRun stages programs of another architecture, and programs that
// do not use Hammr.
func TestProgramsThatTasksCannotRun(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	for name, c := range map[string]struct{ program, text string }{
		"another architecture": {foreignProgram(t), "build it with GOOS=linux GOARCH="},
		"ends at once":         {newFile(t, "script", []byte("#!/bin/sh\nexit 3\n")), "ended with exit status 3 before it sent anything: its main has to call mr.Main"},
		"no program":           {newFile(t, "text", []byte("hello\n")), "not a program for linux/"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Do(t, os.Chmod(c.program, 0o755))
			began := time.Now()
			status := e.runProgram(t, c.program)
			if status.State != wire.JobState_FAILED || !strings.Contains(status.Cause, c.text) {
				t.Errorf("the job is %v: %s", status.State, status.Cause)
			}
			t.Logf("after %v: %s", time.Since(began), status.Cause)
		})
	}
	e.stillWorks()
}

// runProgram runs a job of one map with a program that may not be executable here.
func (e *engine) runProgram(t *testing.T, program string) *wire.JobStatus {
	t.Helper()
	settings, err := conf.FromMap(nil)
	must.Do(t, err)
	router, err := fsconf.NewRouter(settings, nil)
	must.Do(t, err)
	defer router.Close()
	c := e.client(remote.Config{Resolve: router.Resolve, Program: program}, e.state.Addresses()...)
	g := dag.MapReduce(1, 0)
	id, err := c.Submit(t.Context(), &wire.JobSpec{
		Name: "strange", Program: "strange", User: "tester", OutputDir: "file://" + filepath.Join(t.TempDir(), "out"),
		Graph: taskproc.FromGraph(g), Fingerprint: g.Fingerprint(),
	}, []*taskproc.Split{{Parts: []*taskproc.Split_Part{{Path: "file:///etc/hostname", Length: 1, FileSize: 1}}}})
	must.Do(t, err)
	status, err := c.Watch(t.Context(), id, nil)
	must.Do(t, err)
	return status
}
