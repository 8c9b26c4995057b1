package sleep

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr"
)

// counted runs the job with options, in virtual time.
func counted(t *testing.T, ctx context.Context, workers int, args ...string) (code int, took time.Duration, counters map[string]int64, log string) {
	t.Helper()
	program := Program()
	program.Run = func(ctx context.Context, d *mr.Driver) error {
		o, err := parseOptions(d.Args)
		if err != nil {
			return err
		}
		all, err := d.RunCounted(ctx, Job, o.run())
		counters = all["Map-Reduce Framework"]
		return err
	}
	var b bytes.Buffer
	began := time.Now()
	code = mr.Run(ctx, program, append([]string{"--workers", fmt.Sprint(workers)}, args...), &b, &b)
	return code, time.Since(began), counters, b.String()
}

// TestSleep compares time and counters with arithmetic. In addition to its sleep, a job takes
// at most a second, during which the engine waits.
func TestSleep(t *testing.T) {
	for _, c := range []struct {
		args                          string
		workers                       int
		took                          time.Duration
		records, emitted, groups, got int64
	}{
		{"-m 1", 1, 200 * time.Millisecond, 1, 1, 1, 1},
		{"-m 3 -r 2 -mt 5000 -rt 7000 -recordt 1000", 4, 12 * time.Second, 15, 3 * 14, 14, 3 * 14},
		{"-m 3 -r 2 -mt 5000 -rt 7000 -recordt 1000", 1, 29 * time.Second, 15, 3 * 14, 14, 3 * 14},
		{"-m 2 -r 3 -mt 2500 -rt 10 -recordt 1000", 3, 2510 * time.Millisecond, 6, 2 * 3, 3, 2 * 3},
		{"-m 2 -r 1 -mt 0 -rt 3000", 2, 3 * time.Second, 2, 2 * 30, 30, 2 * 30},
		{"-m 2 -r 1 -mt 60000 -rt 0 -recordt 60000", 2, time.Minute, 2, 0, 0, 0},
		{"-m 4 -r 0 -mt 2000", 4, 2 * time.Second, 80, 0, 0, 0},
		{"-D mapreduce.task.timeout=2000 -m 2 -mt 1200000 -rt 900000 -recordt 1200000", 2, 35 * time.Minute, 2, 2, 1, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			code, took, counters, log := counted(t, t.Context(), c.workers, fields(c.args)...)
			if code != mr.ExitDone || took < c.took || took > c.took+time.Second {
				t.Errorf("%s: exit code %d after %v, want %v\n%s", c.args, code, took, c.took, log)
			}
			for name, want := range map[string]int64{
				"Map input records": c.records, "Map output records": c.emitted,
				"Reduce input groups": c.groups, "Reduce input records": c.got, "Reduce output records": 0,
			} {
				if counters[name] != want {
					t.Errorf("%s: %s=%d, want %d", c.args, name, counters[name], want)
				}
			}
		})
	}
}

func fields(line string) (args []string) {
	for _, f := range bytes.Fields([]byte(line)) {
		args = append(args, string(f))
	}
	return args
}

// TestSleepWakesUp cancels a job in its first record and in its first group.
func TestSleepWakesUp(t *testing.T) {
	for _, after := range []time.Duration{time.Minute, 90 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			code, took, _, log := counted(t, ctx, 2, "-m", "2", "-r", "2", "-mt", "3600000", "-rt", "3600000", "-recordt", "3600000")
			if code != mr.ExitInterrupted || took < after || took > after+2*time.Second {
				t.Errorf("exit code %d after %v\n%s", code, took, log)
			}
		})
	}
}

// TestKeys visits the records of a map one by one, as Hadoop does. Together they must emit
// each key once, and their numbers of keys must differ by one at most.
func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Records: rapid.Int64Range(1, 50).Draw(t, "records"), Groups: rapid.Int64Range(0, 50).Draw(t, "groups")}
		reduces := rapid.Int64Range(0, 9).Draw(t, "reduces")
		all, next := c.Groups*reduces, int64(0)
		for record := range c.Records {
			n := all / c.Records
			if all%c.Records > record {
				n++
			}
			if first, end := c.keys(record, reduces); first != next || end != next+n {
				t.Fatalf("record %d has keys %d to %d, want %d to %d", record, first, end, next, next+n)
			}
			next += n
		}
		if next != all {
			t.Fatalf("%d keys, want %d", next, all)
		}
	})
}

func TestSleepRefuses(t *testing.T) {
	extest.Refused(t, Program(), "")
	extest.Refused(t, Program(), "option -x: not known", "-x", "3")
	extest.Refused(t, Program(), "option -D behind the argument 1: generic options come before", "-m", "1", "-D", "a=b")
	extest.Refused(t, Program(), "option -m: a value is missing", "-r", "2", "-m")
	extest.Refused(t, Program(), "option -m: \"0\" is not a whole number of at least 1", "-m", "0")
	extest.Refused(t, Program(), "option -r: \"-1\"", "-r", "-1")
	extest.Refused(t, Program(), "option -recordt: \"0\"", "-recordt", "0")
	extest.Refused(t, Program(), "too large", "-mt", "2147483648")
}

func TestInputOfItsOwn(t *testing.T) {
	var b bytes.Buffer
	program := Program()
	program.Run = func(ctx context.Context, d *mr.Driver) error {
		return d.Run(ctx, Job, mr.JobRun{Set: map[string]string{mapsProperty: "2"}})
	}
	if code := mr.Run(t.Context(), program, nil, &b, &b); code != mr.ExitFailed || !bytes.Contains(b.Bytes(), []byte(recordsProperty+"=: expected")) {
		t.Errorf("exit code %d\n%s", code, b.String())
	}
}
