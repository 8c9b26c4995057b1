package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// TestMastersRunAboveTheirNeighbours checks the nice value of every thread of daemons and
// tasks. A master's is lower than the others', as far as the kernel permits it and as --nice
// says. Tasknodes and tasks have the nice value of the process that started the cluster.
func TestMastersRunAboveTheirNeighbours(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--masters", "1", "--tasknodes", "2")
	m2 := e.join("m2", "--nice", "19") // this value needs no privilege
	waitUntil(t, "all of the master of --nice 19 is", func() bool {
		return slices.Equal(niceness(m2.cmd.Process.Pid), []string{"19"})
	})
	j := startSlowJob(t, e)
	own := niceness(os.Getpid())[0]
	tasks := 0
	waitUntil(t, "tasks run", func() bool {
		for _, n := range e.state.Tasknodes {
			wantNice(t, n.Name, n.PID, own)
			for _, pid := range childrenOf(n.PID) {
				wantNice(t, "a task of "+n.Name, pid, own)
				tasks++
			}
		}
		return tasks > 0
	})
	e.done("job", "kill", j.id)
	m2.stop(t)
	const least = -5 // the default
	if err := mayHaveNiceness(least); err != nil {
		wantNice(t, "a master without the right", e.state.Masters[0].PID, own)
		t.Skipf("masters cannot run above their neighbours here: niceness %d takes CAP_SYS_NICE: %v", least, err)
	}
	wantNice(t, "the master", e.state.Masters[0].PID, strconv.Itoa(least))
}

// wantNice expects all threads of a process to have a nice value. It skips threads that have
// ended.
func wantNice(t *testing.T, what string, pid int, want string) {
	t.Helper()
	if got := niceness(pid); len(got) > 0 && !slices.Equal(got, []string{want}) {
		t.Errorf("the niceness of %s is %q, want %s", what, got, want)
	}
}

// niceness returns the distinct nice values of the threads of a process; none if the process
// has ended.
func niceness(pid int) (values []string) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, stat := range threads {
		if fields := statFields(stat); len(fields) > 16 {
			values = append(values, fields[16])
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// mayHaveNiceness tries to set a nice value on a thread that ends afterwards.
func mayHaveNiceness(niceness int) error {
	err := make(chan error)
	go func() {
		runtime.LockOSThread()
		err <- syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), niceness)
	}()
	return <-err
}
