package failpoint

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// crasher makes a process of this test join a page and hit a point again and again.
const crasher = "FAILPOINT_TEST_CRASHER"

func TestMain(m *testing.M) {
	if os.Getenv(crasher) == "" {
		os.Exit(m.Run())
	}
	if err := Join(); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(3)
	}
	for range 2 {
		if Hit(TaskSpill) != nil {
			os.Exit(4)
		}
	}
	os.Exit(0)
}

func open(t *testing.T) *Control {
	t.Helper()
	c, err := Open(t.TempDir())
	must.Do(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func set(t *testing.T, c *Control, p Point, action string) {
	t.Helper()
	must.Do(t, c.Set(p.String(), action))
}

func TestWithoutDrillsNothingHappens(t *testing.T) {
	if Enabled() {
		t.Fatal("drills are on")
	}
	for p := range points {
		if err := Hit(p); err != nil {
			t.Error(err)
		}
	}
	if late, err := NextDiskFault(); late != 0 || err != nil || Disk(t.Context(), "open", "f") != nil {
		t.Errorf("the disk is late by %v, %v", late, err)
	}
	if off := time.Until(Now()).Abs(); off > time.Minute {
		t.Errorf("the clock is off by %v", off)
	}
	if n := testing.AllocsPerRun(100, func() { _ = Hit(TaskSpill) }); n != 0 {
		t.Errorf("a point costs %v allocations", n)
	}
}

func TestErrorAtEachHitOrAtOne(t *testing.T) {
	c := open(t)
	fails := func() (which []int) {
		for i := range 5 {
			if err := Hit(TaskDone); errors.Is(err, ErrInjected) && errors.Is(err, syscall.EIO) {
				which = append(which, i+1)
			} else if err != nil {
				t.Error(err)
			}
		}
		return which
	}
	for action, want := range map[string][]int{"": nil, "error": {1, 2, 3, 4, 5}, "error@3": {3}, "delay=1ns": nil} {
		set(t, c, TaskDone, action)
		if got := fails(); !slices.Equal(got, want) {
			t.Errorf("%q fails at %v, want %v", action, got, want)
		}
		if i := slices.Index(c.Points(), Status{"task/done", 5}); i != int(TaskDone) {
			t.Errorf("%q: points are %v", action, c.Points())
		}
	}
	set(t, c, TaskDone, "error")
	if Hit(TaskSpill) != nil {
		t.Error("another point fails")
	}
	c.Clear()
	if got := fails(); got != nil {
		t.Errorf("cleared, it fails at %v", got)
	}
}

func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		took := func(do func() error) time.Duration {
			began := time.Now()
			if err := do(); err != nil {
				t.Error(err)
			}
			return time.Since(began)
		}
		set(t, c, TasknodeLaunch, "delay=3s@2")
		hit := func() error { return Hit(TasknodeLaunch) }
		if a, b, d := took(hit), took(hit), took(hit); a != 0 || b != 3*time.Second || d != 0 {
			t.Errorf("hits took %v, %v, %v", a, b, d)
		}
		disk := func() error { return Disk(t.Context(), "open", "f") }
		for _, by := range []time.Duration{20 * time.Millisecond, 0} {
			must.Do(t, c.SlowDisk(by))
			if got := took(disk); got != by {
				t.Errorf("slow by %v it took %v", by, got)
			}
		}
		must.Do(t, c.SlowDisk(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := Disk(ctx, "open", "f"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("held up: %v", err)
		}
	})
}

func TestIOErrors(t *testing.T) {
	c := open(t)
	must.Do(t, c.IOErrors(4))
	var failed []int
	for i := range 12 {
		if err := Disk(t.Context(), "write", "f"); errors.Is(err, ErrInjected) {
			failed = append(failed, i+1)
		}
	}
	if !slices.Equal(failed, []int{4, 8, 12}) {
		t.Errorf("operations %v failed", failed)
	}
}

func TestClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		for _, by := range []time.Duration{time.Hour, -2 * time.Hour} {
			must.Do(t, c.JumpClock(by))
		}
		if ahead := time.Until(Now()); ahead != -time.Hour {
			t.Errorf("the clock is %v ahead", ahead)
		}
		c.Clear()
		if ahead := time.Until(Now()); ahead != 0 {
			t.Errorf("set right, it is %v ahead", ahead)
		}
	})
}

// TestProcessesCountTogether sets a crash at the fourth hit. Two processes make two hits
// each, so the second process crashes at its end.
func TestProcessesCountTogether(t *testing.T) {
	c := open(t)
	set(t, c, TaskSpill, "crash@4")
	run := func() error {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crasher+"=1", EnvVar+"="+c.File())
		return cmd.Run()
	}
	if err := run(); err != nil {
		t.Fatalf("the first: %v", err)
	}
	var ended *exec.ExitError
	if err := run(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the second: %v", err)
	}
	if hits := c.Points()[TaskSpill].Hits; hits != 4 {
		t.Errorf("%d hits", hits)
	}
}

func TestInvalidFaultsAreRefused(t *testing.T) {
	c := open(t)
	for want, err := range map[string]error{
		`no failpoint "task/spil"; there are task/spill, task/checkpoint-write,`: c.Set("task/spil", "error"),
		`action "explode": expected error, crash or delay=TIME`:                  c.Set("task/spill", "explode"),
		`action "@3": expected error`:                                            c.Set("task/spill", "@3"),
		`action "crash@0": expected the number of a hit`:                         c.Set("task/spill", "crash@0"),
		`action "delay=-1s": expected a time up to 1h0m0s`:                       c.Set("task/spill", "delay=-1s"),
		`action "error=5": expected`:                                             c.Set("task/spill", "error=5"),
		"slow disk by -1ns: expected 0s to 1h0m0s":                               c.SlowDisk(-1),
		"one in -1 operations":                                                   c.IOErrors(-1),
		"clock jump by -2562047h47m16.854775808s: more than":                     c.JumpClock(-1 << 63),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestPagesOfOtherVersions checks that pages of other versions are refused as a whole.
func TestPagesOfOtherVersions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page")
	for want, content := range map[string][]byte{
		"not 4096 bytes": []byte("short"), "another version of hammr": make([]byte, pageBytes),
	} {
		must.Do(t, os.WriteFile(name, content, 0o600))
		t.Setenv(EnvVar, name)
		if err := Join(); err == nil || !strings.Contains(err.Error(), want) || Enabled() {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func FuzzParseAction(f *testing.F) {
	for _, text := range []string{"", "error", "crash@3", "delay=20ms@1", "delay=", "@", "error@-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAction(text)
		if err == nil && (a.nth < 0 || a.delay < 0 || a.delay > maxDelay || (a.kind == sleep) != (a.delay > 0)) {
			t.Errorf("%q is %+v", text, a)
		}
	})
}
