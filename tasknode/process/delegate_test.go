package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// delegateEnv makes the test binary call delegate: "GROUP CONTROLLERS".
const delegateEnv = "PROCESS_TEST_DELEGATE"

// delegateItself is the process that is started with delegateEnv. It prints the result and its
// groups.
func delegateItself(text string) {
	group, controllers, _ := strings.Cut(text, " ")
	for range 2 { // the second call is that of a daemon that was replaced in place
		parent, err := delegate(group, controllers)
		fmt.Println("parent", parent, err)
		member, _ := os.ReadFile("/proc/self/cgroup")
		for line := range strings.Lines(string(member)) {
			if path, is := strings.CutPrefix(line, "0::"); is {
				group = filepath.Join(os.Getenv("PROCESS_TEST_MOUNT"), strings.TrimSpace(path))
				fmt.Println("in", group)
			}
		}
	}
	os.Exit(0)
}

// versionTwo returns where a hierarchy of version 2 is mounted, and a controller that is free in
// it. The controller of memory may belong to version 1 on this machine; the kernel has the same
// rules for each.
func versionTwo(t *testing.T) (mount, controller string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes control groups")
	}
	mounts, err := memoryMounts("/proc/self/mounts")
	must.Do(t, err)
	for _, m := range mounts {
		text, err := os.ReadFile(filepath.Join(m.dir, "cgroup.controllers"))
		if names := strings.Fields(string(text)); m.kind == "" && err == nil && len(names) > 0 {
			return m.dir, names[0]
		}
	}
	t.Skip("no hierarchy of version 2 with a controller on this machine")
	return "", ""
}

// unit makes a group as a service manager makes that of a unit, with a controller.
func unit(t *testing.T, mount, controller string) string {
	t.Helper()
	put(t, mount, "cgroup.subtree_control", "+"+controller) // allowed in the root, in spite of its processes
	group := filepath.Join(mount, "hammr-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("this machine gives the tests no control group: %v", err)
	}
	t.Cleanup(func() {
		_ = os.Remove(filepath.Join(group, supervisorGroup)) // it may not be there
		if err := (&taskCgroup{cgroup{dir: group, version: 2}}).remove(); err != nil {
			t.Error(err)
		}
	})
	return group
}

// startIn starts a program whose first process is in a group.
func startIn(t *testing.T, group string, cmd *exec.Cmd) {
	t.Helper()
	dir, err := os.Open(group)
	must.Do(t, err)
	defer dir.Close()
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd()), Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
}

// delegateIn runs delegate in a process of a group, and returns what it prints.
func delegateIn(t *testing.T, mount, group, controller string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), delegateEnv+"="+group+" +"+controller, "PROCESS_TEST_MOUNT="+mount)
	var out strings.Builder
	cmd.Stdout = &out
	startIn(t, group, cmd)
	must.Do(t, cmd.Wait())
	return out.String()
}

// TestDaemonLeavesItsGroupToTasks starts a process in a group of its own, as systemd does, and
// checks that the kernel lets it give a controller to groups below, also a second time.
func TestDaemonLeavesItsGroupToTasks(t *testing.T) {
	mount, controller := versionTwo(t)
	group := unit(t, mount, controller)
	line := fmt.Sprintf("parent %s <nil>\nin %s/supervisor\n", group, group)
	if got := delegateIn(t, mount, group, controller); got != line+line {
		t.Errorf("got\n%swant twice\n%s", got, line)
	}
	wantText(t, group, "cgroup.subtree_control", controller+"\n")
}

// TestDaemonSharesItsGroup checks that nothing changes if another process is in the group.
func TestDaemonSharesItsGroup(t *testing.T) {
	mount, controller := versionTwo(t)
	group := unit(t, mount, controller)
	other := exec.Command("sleep", "60")
	startIn(t, group, other)
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait() // it was killed
	}()
	got := delegateIn(t, mount, group, controller)
	if strings.Count(got, "in "+group+"\n") != 2 || strings.Count(got, "only the tasknode may be in it") != 2 {
		t.Errorf("got\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(group, supervisorGroup)); !os.IsNotExist(err) {
		t.Errorf("group of the daemon: %v", err)
	}
	wantText(t, group, "cgroup.subtree_control", "")
}
