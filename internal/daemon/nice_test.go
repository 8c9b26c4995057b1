package daemon

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// niceEnv makes the test's process set its niceness and print it.
const niceEnv = "DAEMON_TEST_NICE"

// TestSetNice runs a child process, since a raised niceness cannot be reverted without
// privileges.
func TestSetNice(t *testing.T) {
	if text := os.Getenv(niceEnv); text != "" {
		niceness, err := strconv.Atoi(text)
		if err == nil {
			err = SetNice(niceness)
		}
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("niceness " + ownNiceness(t) + ".\n")
		return
	}
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("no /proc")
	}
	for niceness, want := range map[string]string{"19": "niceness 19.", "0": "niceness " + ownNiceness(t) + "."} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSetNice$", "-test.v")
		cmd.Env = append(os.Environ(), niceEnv+"="+niceness)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", niceness, err, out)
		}
	}
}

// ownNiceness returns the niceness of the calling thread.
func ownNiceness(t *testing.T) string {
	stat, err := os.ReadFile("/proc/thread-self/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(rest)[16]
}
