package process

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
)

// states returns the states of the processes of a task's group, as in /proc: T is stopped.
func (r *running) states() (states string) {
	r.t.Helper()
	for _, pid := range processesIn(r.t, r.task.(*task).child.pid) {
		data, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		states += rest[:1]
	}
	return states
}

// awaitStates waits until all processes of the task are stopped, or none is.
func (r *running) awaitStates(suspended bool) {
	r.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		states := r.states()
		if stopped := strings.Count(states, "T"); states != "" && stopped == len(states) == suspended && (suspended || stopped == 0) {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("processes in states %q, want suspended: %v", states, suspended)
		}
	}
}

func launchDeaf(t *testing.T) *running {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "deaf"))
	for {
		m, err := r.end.Receive()
		must.Do(t, err)
		if m.GetProgress().GetStatus() == "deaf" {
			return r
		}
	}
}

func TestSuspendAndResume(t *testing.T) {
	r := launchDeaf(t)
	task := r.task.(tasknode.Suspender)
	for range 2 {
		must.Do(t, task.Suspend())
		r.awaitStates(true)
		must.Do(t, task.Resume())
		r.awaitStates(false)
	}
	r.end.Close() // kills it
	if err := r.gone(); err == nil {
		t.Error("the task ended by itself")
	}
	if err := task.Suspend(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("suspending an exited task: %v", err)
	}
}

func TestSuspendedTaskCanBeKilled(t *testing.T) {
	r := launchDeaf(t)
	must.Do(t, r.task.(tasknode.Suspender).Suspend())
	r.awaitStates(true)
	r.end.Close()
	if err := r.gone(); err == nil {
		t.Error("the task ended by itself")
	}
}

// TestFreezer suspends a whole control group if the kernel supports that.
func TestFreezer(t *testing.T) {
	dir := t.TempDir()
	for version, want := range map[int]string{1: "", 2: "10"} {
		g := &taskCgroup{cgroup{dir: dir, version: version}}
		if version == 2 {
			put(t, dir, "cgroup.freeze", "")
		}
		got := ""
		for _, stopped := range []bool{true, false} {
			done, err := g.setFrozen(stopped)
			if err != nil || done != (version == 2) {
				t.Errorf("version %d: %v, %v", version, done, err)
			}
			if text, err := os.ReadFile(dir + "/cgroup.freeze"); err == nil && done {
				got += string(text)
			}
		}
		if got != want {
			t.Errorf("version %d: written %q, want %q", version, got, want)
		}
		_ = os.Remove(dir + "/cgroup.freeze") // none in version 1
	}
}
