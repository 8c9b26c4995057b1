package mr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/internal/testing/must"
)

// detached returns a task outside any node. properties are pairs of name and value.
func detached(t *testing.T, ctx context.Context, properties ...string) *Task {
	t.Helper()
	c := conf.New()
	for i := 0; i < len(properties); i += 2 {
		if _, err := c.Set(properties[i], properties[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	made, err := newTask(task.Detached(ctx, new(taskproc.Start), c, nil), nil, nil)
	must.Do(t, err)
	return made
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asleep := detached(t, t.Context())
		for _, d := range []time.Duration{-time.Second, 0, 1, time.Millisecond, aliveStep, 3*aliveStep + 7, time.Hour} {
			began := time.Now()
			must.Do(t, asleep.Sleep(d))
			if took := time.Since(began); took != max(d, 0) {
				t.Errorf("a sleep of %v took %v", d, took)
			}
		}
	})
}

func TestSleepEndsWithTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		asleep := detached(t, ctx)
		time.AfterFunc(time.Minute+1, func() { cancel(why) })
		began := time.Now()
		if err := asleep.Sleep(time.Hour); err != why || time.Since(began) != time.Minute+1 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := asleep.Sleep(0); err != why {
			t.Errorf("no sleep after the end: %v", err)
		}
	})
}

// TestBrake checks that n records take n times the property. The difference stays below
// minSleep.
func TestBrake(t *testing.T) {
	for text, each := range map[string]time.Duration{
		"1us": time.Microsecond, "130us": 130 * time.Microsecond, "1": time.Millisecond, "70ms": 70 * time.Millisecond, "2s": 2 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newThrottle(detached(t, t.Context(), conf.RecordSleep, text))
			began := time.Now()
			for n := range time.Duration(5000) {
				must.Do(t, b.record())
				if late := (n+1)*each - time.Since(began); late < 0 || late >= minSleep {
					t.Fatalf("%s: %d records took %v", text, n+1, time.Since(began))
				}
			}
		})
	}
	if b := newThrottle(detached(t, t.Context())); b != nil {
		t.Error("a brake where no property asks for one")
	}
}

// TestBrakeTakesBackWhatTimersTakeTooLong starts after a sleep that was one second too long.
// The records of that second take no time.
func TestBrakeTakesBackWhatTimersTakeTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newThrottle(detached(t, t.Context(), conf.RecordSleep, "100ms"))
		b.owed = -time.Second
		began := time.Now()
		for range 13 {
			must.Do(t, b.record())
		}
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

// countdown counts the lines of its input by length.
func countdown() *Job[int64, int64, int64, int64] {
	return New("countdown", TextLines(), MapFunc(func(_ *Task, _ int64, line []byte, out Emitter[int64, int64]) error {
		out.Emit(int64(len(line)), 1)
		return nil
	}), Sum[int64, int64](), TextOutput[int64, int64]())
}

// runBraked runs a job on 30 lines of 10 lengths, in virtual time.
func runBraked(t *testing.T, ctx context.Context, r Runnable, options ...string) (code int, took time.Duration, out, stderr string) {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintln(&lines, strings.Repeat("x", i%10))
	}
	in, outDir := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	must.Do(t, os.WriteFile(in, []byte(lines.String()), 0o644))
	var log bytes.Buffer
	began := time.Now()
	code = Run(ctx, r, append(options, in, outDir), &log, &log)
	took = time.Since(began)
	content, err := os.ReadFile(filepath.Join(outDir, "part-r-00000"))
	if err != nil && code == ExitDone {
		t.Error(err)
	}
	return code, took, string(content), log.String()
}

// TestRecordsAndGroupsTakeLonger delays 30 records and 10 groups by 20 seconds each.
func TestRecordsAndGroupsTakeLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, alone, want, _ := runBraked(t, t.Context(), countdown())
		code, took, got, log := runBraked(t, t.Context(), countdown(), "-D", conf.RecordSleep+"=20s")
		if code != ExitDone || got != want {
			t.Fatalf("exit code %d, output %q, want %q\n%s", code, got, want, log)
		}
		if longer := took - alone; longer < 800*time.Second || longer > 810*time.Second {
			t.Errorf("took %v longer", longer)
		}
	})
}

// TestBrakedJobIsKilled cancels a job in the middle of a record, and of a group.
func TestBrakedJobIsKilled(t *testing.T) {
	for where, after := range map[string]time.Duration{"map": 450 * time.Second, "reduce": 700 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			code, took, _, log := runBraked(t, ctx, countdown(), "-D", conf.RecordSleep+"=20s")
			if code != ExitInterrupted || took < after || took > after+2*time.Second {
				t.Errorf("%s: exit code %d after %v\n%s", where, code, took, log)
			}
		})
	}
}

// TestNoBrakeNoGarbage checks that record does not allocate if no delay is set.
func TestNoBrakeNoGarbage(t *testing.T) {
	var b *throttle
	if n := testing.AllocsPerRun(100, func() { _ = b.record() }); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}
