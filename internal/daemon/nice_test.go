package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// niceEnv makes the test's process set its niceness and print it.
const niceEnv = "DAEMON_TEST_NICE"

// TestSetNice runs a child process, since a raised niceness cannot be reverted without
// privileges.
func TestSetNice(t *testing.T) {
	if text := os.Getenv(niceEnv); text != "" {
		niceness, err := strconv.Atoi(text)
		must.Do(t, err)
		stop := startThreads()
		err = SetNice(niceness)
		stop()
		must.Do(t, err)
		os.Stdout.WriteString("niceness " + strings.Join(nicenessOfThreads(t), ", ") + ".\n")
		return
	}
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("no /proc")
	}
	for niceness, want := range map[string]string{"19": "niceness 19.", "0": "niceness " + nicenessOfThreads(t)[0] + "."} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSetNice$", "-test.v")
		cmd.Env = append(os.Environ(), niceEnv+"="+niceness)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", niceness, err, out)
		}
	}
}

// startThreads starts and ends threads until the returned function is called. A thread ends with a
// goroutine that is still locked to it.
func startThreads() (stop func()) {
	var group sync.WaitGroup
	stopped := make(chan struct{})
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				var thread sync.WaitGroup
				thread.Go(runtime.LockOSThread)
				thread.Wait()
			}
		})
	}
	return func() { close(stopped); group.Wait() }
}

// nicenessOfThreads returns the distinct values of the threads of this process.
func nicenessOfThreads(t *testing.T) (values []string) {
	files, err := filepath.Glob("/proc/self/task/*/stat")
	must.Do(t, err)
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		values = append(values, strings.Fields(rest)[16])
	}
	slices.Sort(values)
	return slices.Compact(values)
}
