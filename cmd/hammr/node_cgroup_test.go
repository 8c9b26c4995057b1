package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/tasknode/process"
)

// ownGroup makes the control group of a tasknode of a directory.
func ownGroup(t *testing.T, dir string) string {
	t.Helper()
	name, err := cgroupName(dir)
	if err != nil {
		t.Fatal(err)
	}
	group, err := process.CreateCgroup(name)
	if err != nil {
		t.Skipf("this machine gives the tests no control group: %v", err)
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

// TestCgroupsOfKilledTasknodesAreRemoved leaves a group with a task's below it,
// in which a process runs that nobody waits for.
func TestCgroupsOfKilledTasknodesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	group := ownGroup(t, dir)
	task := filepath.Join(group, "attempt")
	if err := os.Mkdir(task, 0o755); err != nil {
		t.Fatal(err)
	}
	left := exec.Command("sleep", "60")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- left.Wait() }()
	if err := os.WriteFile(filepath.Join(task, "cgroup.procs"), fmt.Append(nil, left.Process.Pid), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := noteCgroup(dir, group); err != nil {
		t.Fatal(err)
	}
	state := &localcluster.State{Tasknodes: []localcluster.Tasknode{{Name: "n1", Process: localcluster.Process{Dir: dir}}, {Name: "n2", Process: localcluster.Process{Dir: t.TempDir()}}}}
	for range 2 {
		if err := removeCgroups(state); err != nil || exists(group) || exists(filepath.Join(dir, cgroupFile)) {
			t.Errorf("%v; the group is left: %v", err, exists(group))
		}
	}
	if err := <-gone; err == nil {
		t.Error("what ran in the group has ended by itself")
	}
}

// TestForeignCgroupsAreKept has notes of groups that no tasknode of the directory
// can have made, and one of a former life's.
func TestForeignCgroupsAreKept(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	group := ownGroup(t, other)
	if err := noteCgroup(dir, group); err != nil {
		t.Fatal(err)
	}
	if err := removeCgroupOf(dir); err != nil || !exists(group) || exists(filepath.Join(dir, cgroupFile)) {
		t.Errorf("%v; the other's group is there: %v", err, exists(group))
	}
	if err := noteCgroup(other, group); err != nil {
		t.Fatal(err)
	}
	if err := noteCgroup(other, group+"/below"); err != nil || exists(group) {
		t.Errorf("%v; the former life's group is left: %v", err, exists(group))
	}
}
