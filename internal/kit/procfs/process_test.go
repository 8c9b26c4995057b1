package procfs

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const stat = "12 (a) b) S 7 5 1 0 -1 0 0 0 0 0 100 20 3 4 20 0 1 0 99 1000 3 18446744073709551615 0"
	p, ok := parseStat([]byte(stat))
	if !ok || p.PID != 12 || p.Parent != 7 || p.Group != 5 || p.RSSBytes%3 != 0 || p.RSSBytes <= 0 || p.CPU != 1200*time.Millisecond || p.Children != 70*time.Millisecond || p.Started != "99" {
		t.Errorf("process %+v, %v", p, ok)
	}
	for state, started := range map[string]string{"Z": "", "X": "", "T": "99"} {
		if p, ok := parseStat([]byte(strings.Replace(stat, ") S", ") "+state, 1))); !ok || p.Started != started {
			t.Errorf("a process in state %s: %+v, %v", state, p, ok)
		}
	}
	for _, text := range []string{"no process", "", ")", "12 (a) S 1", strings.Replace(stat, "100", "x", 1)} {
		if _, ok := parseStat([]byte(text)); ok {
			t.Errorf("%q, a text that is no process, is accepted", text)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) b) S 7 5 1 0 -1 0 0 0 0 0 100 20 3 4 20 0 1 0 99 1000 3 18446744073709551615 0"))
	f.Add([]byte(")"))
	f.Fuzz(func(_ *testing.T, stat []byte) { parseStat(stat) })
}

func TestAllHasThisProcess(t *testing.T) {
	if !slices.ContainsFunc(All(), func(p Process) bool { return p.PID == os.Getpid() && p.Parent == os.Getppid() }) {
		t.Error("this process is missing")
	}
}
