package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestCgroupLimitsMemory(t *testing.T) {
	dir, err := CreateCgroup("hammr-test-"+strconv.Itoa(os.Getpid()), nil)
	if err != nil {
		t.Skipf("this machine gives the tests no control group: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	l := newLauncher(t, Config{Cgroup: dir})
	for action, phrase := range map[string]string{"": "", "eat": "ran out of its memory of 300 MiB"} {
		start := startMessage(t, action)
		start.Properties[conf.MapMemoryMB] = "300"
		r := launch(t.Context(), t, l, start)
		r.last()
		if err := r.gone(); phrase != "" {
			wantCrash(t, err, phrase)
		} else if err != nil {
			t.Errorf("exit error %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, start.AttemptId)); !os.IsNotExist(err) {
			t.Errorf("cgroup after the end: %v", err)
		}
	}
}

// fakeCgroup makes a directory with the files of a control group. The kernel makes the
// files of a new group; here writing makes them.
func fakeCgroup(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		put(t, dir, name, "")
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func wantText(t *testing.T, dir, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
		t.Errorf("%s has %q, %v; want %q", name, got, err, want)
	}
}

func TestFilesOfACgroup(t *testing.T) {
	for _, c := range []struct {
		mark, limit, events string
		version             int
	}{
		{"cgroup.controllers", "memory.max", "memory.events", 2},
		{"memory.limit_in_bytes", "memory.limit_in_bytes", "memory.oom_control", 1},
	} {
		dir := fakeCgroup(t, c.mark)
		parent, err := openCgroup(dir, nil)
		if err != nil || parent.version != c.version {
			t.Fatalf("%s: %v, %v", c.mark, parent, err)
		}
		g, err := parent.newGroup("attempt", limits{memory: 5 << 20})
		must.Do(t, err)
		wantText(t, g.dir, c.limit, strconv.Itoa(5<<20))
		for text, want := range map[string]bool{"": false, "oom 3\noom_kill 0\n": false, "low 0\noom_kill 2\noom_group_kill 0\n": true} {
			put(t, g.dir, c.events, text)
			if got := g.ranOutOfMemory(); got != want {
				t.Errorf("out of memory with %q: %v", text, got)
			}
		}
		if _, err := parent.newGroup("attempt", limits{memory: 1}); err == nil {
			t.Error("made a second group of the same name")
		}
		checkEntry(t, g, c.version)
	}
	if _, err := openCgroup(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "neither a control group of version 2 nor") {
		t.Errorf("error %v", err)
	}
}

// checkEntry checks that a process gets into a group, at its start or after it.
func checkEntry(t *testing.T, g *taskCgroup, version int) {
	t.Helper()
	attr := new(syscall.SysProcAttr)
	leave, err := g.enterAtStart(attr)
	if err != nil || attr.UseCgroupFD != (version == 2) {
		t.Errorf("entry at the start: %v, %v", attr.UseCgroupFD, err)
	}
	leave()
	if err := g.add(77); err != nil {
		t.Error(err)
	}
	if version == 1 {
		wantText(t, g.dir, "cgroup.procs", "77")
		put(t, g.dir, "cgroup.procs", "")
	} else if exists(filepath.Join(g.dir, "cgroup.procs")) {
		t.Error("the process is added a second time")
	}
}

func TestLeftoverProcessesOfACgroupAreKilled(t *testing.T) {
	dir := fakeCgroup(t, "memory.limit_in_bytes")
	child := exec.Command("sleep", "1000")
	must.Do(t, child.Start())
	g := &taskCgroup{cgroup{dir: dir, version: 1}}
	put(t, dir, "cgroup.procs", strconv.Itoa(child.Process.Pid)+"\n")
	ended := make(chan error)
	go func() {
		err := child.Wait()
		put(t, dir, "cgroup.procs", "")
		ended <- err
	}()
	g.kill()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("exit error %v", err)
	}
}

func TestCgroupsOfAnEarlierDaemonAreRemoved(t *testing.T) {
	dir := fakeCgroup(t, "memory.limit_in_bytes")
	must.Do(t, os.Mkdir(filepath.Join(dir, "attempt_0"), 0o755))
	if _, err := openCgroup(dir, nil); err != nil {
		t.Error(err)
	}
	if exists(filepath.Join(dir, "attempt_0")) {
		t.Error("the group is left")
	}
}
