package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMeasureCountsAllProcesses checks that processes count that run beside the command, and
// that the measurement waits for one that the command leaves behind.
func TestMeasureCountsAllProcesses(t *testing.T) {
	k := testKit(t, 1)
	// The process that is left begins to work when the command has exited.
	const spin = `while kill -0 $$ 2>/dev/null; do :; done; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`
	worked := filepath.Join(t.TempDir(), "worked")
	s, err := k.measure(t.Context(), Command{Args: []string{"sh", "-c", `(` + spin + `; touch "$0") & exit 0`, worked}})
	if err != nil || s.CPUSeconds < 0.02 {
		t.Errorf("a command that leaves a busy process behind: %+v, %v", s, err)
	}
	if _, err := os.Stat(worked); err != nil {
		t.Errorf("the measurement has not waited for it: %v", err)
	}
	for seconds := 0.6; ; seconds *= 4 { // until a sample of the memory falls into that time
		s, err = k.measure(t.Context(), Command{Args: []string{"sh", "-c", `for i in 1 2; do dd if=/dev/zero bs=30M count=1 2>/dev/null | sleep $0 & done; wait`, fmt.Sprint(seconds)}})
		if enough := s.TreeRSSBytes >= 60<<20; err != nil || s.MaxRSSBytes > 45<<20 || !enough && seconds > 10 {
			t.Fatalf("two processes of 30 MiB: %+v, %v; want 60 MiB together", s, err)
		} else if enough {
			return
		}
	}
}
