package tasknoded

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode/process"
)

// createGroup makes the control group of the tasknode with the given directory.
func createGroup(t *testing.T, dir string) string {
	t.Helper()
	name, err := cgroupName(dir)
	must.Do(t, err)
	group, err := process.CreateCgroup(name, nil)
	if err != nil {
		t.Skipf("no control group on this machine: %v", err)
	}
	t.Cleanup(func() {
		if err := process.RemoveCgroup(group); err != nil {
			t.Error(err)
		}
	})
	return group
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestCgroupsOfKilledTasknodesAreRemoved makes the group of a tasknode and, below it, the
// group of a task in which a process still runs.
func TestCgroupsOfKilledTasknodesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	group := createGroup(t, dir)
	task := filepath.Join(group, "attempt")
	must.Do(t, os.Mkdir(task, 0o755))
	orphan := exec.Command("sleep", "60")
	must.Do(t, orphan.Start())
	ended := make(chan error, 1)
	go func() { ended <- orphan.Wait() }()
	must.Do(t, os.WriteFile(filepath.Join(task, "cgroup.procs"), fmt.Append(nil, orphan.Process.Pid), 0o644))
	must.Do(t, recordCgroup(dir, group))
	for range 2 {
		if err := RemoveCgroup(dir); err != nil || exists(group) || exists(filepath.Join(dir, cgroupFile)) {
			t.Errorf("%v; the group exists: %v", err, exists(group))
		}
	}
	if err := <-ended; err == nil {
		t.Error("the process in the group ended by itself")
	}
}

// TestForeignCgroupsAreKept uses cgroup files that name groups which no tasknode of the
// directory can have made, and one file that names the group of its predecessor.
func TestForeignCgroupsAreKept(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	group := createGroup(t, other)
	must.Do(t, recordCgroup(dir, group))
	if err := RemoveCgroup(dir); err != nil || !exists(group) || exists(filepath.Join(dir, cgroupFile)) {
		t.Errorf("%v; the other's group exists: %v", err, exists(group))
	}
	must.Do(t, recordCgroup(other, group))
	if err := recordCgroup(other, group+"/below"); err != nil || exists(group) {
		t.Errorf("%v; the predecessor's group exists: %v", err, exists(group))
	}
}
