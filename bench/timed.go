package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/procfs"
)

// orphanPatience is how long processes that a command has started may run after its end.
const orphanPatience = 30 * time.Second

// Timed does the work of the program timed. It runs a command with the standard streams of
// this process, writes the command's Sample to a file, and returns the exit code. It
// forwards signals to the command.
//
// Timed runs in a small process of its own, because a child's peak memory includes the
// parent's memory at the fork. It becomes the parent of processes that the command leaves
// behind, such as the JVM of a Python program, and waits for them. So their CPU time counts,
// and they do not disturb the next measurement. Seconds end with the command itself.
func Timed(name string, args []string, signals <-chan os.Signal) (exitCode int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("parent of orphans: %w", err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // fails if the process has already ended
		}
	}()
	stopTree := watchTree(os.Getpid())
	err = cmd.Wait()
	elapsed := time.Since(start)
	peak := stopTree()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if err := waitForOrphans(); err != nil {
		return 0, err
	}
	s, err := sampleOfChildren()
	if err != nil {
		return 0, err
	}
	s.Seconds, s.TreeRSSBytes = elapsed.Seconds(), peak
	return cmd.ProcessState.ExitCode(), jsonfile.Write(name, s, 0o644)
}

// waitForOrphans waits until this process has no children.
func waitForOrphans() error {
	for deadline := time.Now().Add(orphanPatience); ; time.Sleep(10 * time.Millisecond) {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return nil
		case err != nil && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("processes left by the command: %w", err)
		case pid == 0 && time.Now().After(deadline):
			return fmt.Errorf("processes left by the command still run after %v", orphanPatience)
		}
	}
}

// sampleOfChildren returns what all children of this process have used, and their children.
func sampleOfChildren() (Sample, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return Sample{}, fmt.Errorf("cost of the command: %w", err)
	}
	return Sample{
		CPUSeconds:  time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds(),
		MaxRSSBytes: u.Maxrss << 10,
	}, nil
}

// treeInterval is the time between two samples of a process tree. A sample reads a file of
// each process of the machine, about 2 ms of CPU time.
const treeInterval = 250 * time.Millisecond

// watchTree starts a goroutine that samples the resident memory of the processes below one process.
// stop ends it and returns the peak in bytes.
func watchTree(root int) (stop func() int64) {
	result := make(chan int64)
	go func() {
		ticker := time.NewTicker(treeInterval)
		defer ticker.Stop()
		var peak int64
		for {
			select {
			case <-ticker.C:
				peak = max(peak, treeRSS(root))
			case result <- peak:
				return
			}
		}
	}()
	return func() int64 { return <-result }
}

// treeRSS returns the sum of the resident memory of all processes below root, without root.
// Pages that processes share count in each of them.
func treeRSS(root int) (sum int64) {
	children := make(map[int][]procfs.Process)
	for _, p := range procfs.All() {
		children[p.Parent] = append(children[p.Parent], p)
	}
	for next := children[root]; len(next) > 0; {
		p := next[0]
		sum += p.RSSBytes
		next = append(next[1:], children[p.PID]...)
	}
	return sum
}
