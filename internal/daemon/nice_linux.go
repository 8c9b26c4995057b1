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
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("niceness %d: %w", niceness, err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			continue
		}
		err = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness)
		if err != nil && !errors.Is(err, syscall.ESRCH) { // the thread has ended
			return fmt.Errorf("niceness %d: %w", niceness, err)
		}
	}
	return nil
}
