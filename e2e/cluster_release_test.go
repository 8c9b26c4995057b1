//go:build soak

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// buildingRelease is held while a program of the last release is built, so that it is built once.
var buildingRelease sync.Mutex

// lastRelease returns a program of the last release. It skips the test if the sources of that
// release are not here. In CI they may only be missing from a clone without history.
func lastRelease(t *testing.T, command string) (program string) {
	t.Helper()
	buildingRelease.Lock()
	defer buildingRelease.Unlock()
	program, err := releaseProgram(t.Context(), command)
	if err != nil && (errors.Is(err, errNoHistory) || os.Getenv("CI") != "true") {
		t.Skip(err)
	}
	must.Do(t, err)
	return program
}

// mixedEngine is a cluster whose daemons run programs of two releases.
type mixedEngine struct {
	*engine
	mu       sync.Mutex
	programs map[string]string // of daemons that were replaced
}

// newMixedEngine starts a cluster of a program.
func newMixedEngine(t *testing.T, program string, cfg localcluster.Config) *mixedEngine {
	t.Helper()
	cfg.Dir = filepath.Join(t.TempDir(), "cluster")
	e := &mixedEngine{engine: &engine{t: t, dir: cfg.Dir}, programs: make(map[string]string)}
	cfg.BeforeStart = func(name, _ string, cmd *exec.Cmd) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if other := e.programs[name]; other != "" {
			cmd.Path, cmd.Args[0] = other, other
		}
		return nil
	}
	var err error
	e.cluster, err = testcluster.Start(t.Context(), testcluster.Config{Config: cfg, Hammr: program, Expiry: patient})
	must.Do(t, err)
	t.Cleanup(func() {
		must.Do(t, e.cluster.Close())
		e.checkEnd()
	})
	e.state, err = localcluster.ReadState(e.dir)
	must.Do(t, err)
	return e
}

// replace stops a daemon as an operator does, and starts it with another program. If another process
// starts the daemon in between, that is the new program too.
func (e *mixedEngine) replace(name, program string) {
	e.t.Helper()
	e.mu.Lock()
	e.programs[name] = program
	e.mu.Unlock()
	p, err := e.cluster.Process(name)
	must.Do(e.t, err)
	if p.Alive() {
		if err := syscall.Kill(p.PID, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
			must.Do(e.t, err)
		}
	}
	waitUntil(e.t, name+" has stopped", func() bool { return !p.Alive() })
	must.Do(e.t, e.cluster.Start(e.t.Context(), name))
}

// crash kills a master and starts it again with the same program. It returns the next leader.
func (e *mixedEngine) crash(name string) (leader string) {
	e.t.Helper()
	must.Do(e.t, e.cluster.Kill(e.t.Context(), name))
	leader, err := e.cluster.AwaitLeader(e.t.Context(), name)
	must.Do(e.t, err)
	must.Do(e.t, e.cluster.Start(e.t.Context(), name))
	return leader
}
