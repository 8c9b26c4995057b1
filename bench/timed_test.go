package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

func TestProcessIn(t *testing.T) {
	const stat = "12 (a) b) S 7 1 1 0 -1 0 0 0 0 0 100 20 3 4 20 0 1 0 99 1000 3 18446744073709551615 0"
	p, ok := processIn([]byte(stat))
	if !ok || p.PID != 12 || p.Parent != 7 || p.RSSBytes%3 != 0 || p.RSSBytes <= 0 || p.CPU != 1200*time.Millisecond || p.Children != 70*time.Millisecond {
		t.Errorf("process %+v, %v", p, ok)
	}
	for _, text := range []string{"no process", "", ")", "12 (a) S 1", strings.Replace(stat, "100", "x", 1)} {
		if _, ok := processIn([]byte(text)); ok {
			t.Errorf("%q, a text that is no process, is accepted", text)
		}
	}
}
