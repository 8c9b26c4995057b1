package daemon

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// SetNice sets the niceness of this process, -20 to 19; 0 leaves it unchanged. On Linux each
// thread has its own niceness, which the threads that it starts inherit. Call it early. A
// lower niceness than the present one needs CAP_SYS_NICE.
func SetNice(niceness int) error {
	if niceness == 0 {
		return nil
	}
	// A thread that has no new value yet may start another one. That one is in the next list, unless a thread
	// ends while the list is read: then the kernel may leave others out.
	for unchanged := 0; unchanged < settledLists; unchanged++ {
		changed, err := setThreads(niceness)
		if err != nil {
			return fmt.Errorf("niceness %d: %w", niceness, err)
		}
		if changed {
			unchanged = -1
		}
	}
	return nil
}

// settledLists is the number of lists of threads in a row in which all have the niceness at the end.
const settledLists = 10

// setThreads sets the niceness of the threads that run now. It reports whether one had another value.
func setThreads(niceness int) (changed bool, err error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false, err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			continue
		}
		// The system call returns 20 minus the niceness.
		if now, err := syscall.Getpriority(syscall.PRIO_PROCESS, id); err == nil && 20-now == niceness {
			continue
		}
		err = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness)
		if errors.Is(err, syscall.ESRCH) { // the thread has ended
			continue
		}
		if err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}
