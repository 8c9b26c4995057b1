package console

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hammr/hammr/internal/conf/counter"
)

// clock is a clock that the test sets.
type clock struct{ now time.Time }

func newClock() *clock {
	return &clock{time.Date(2026, 11, 21, 11, 14, 22, 123e6, time.UTC)}
}

func (c *clock) read() time.Time         { return c.now }
func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

func newConsole(o Options) (*Console, *strings.Builder, *clock) {
	var b strings.Builder
	t := newClock()
	o.Err, o.Now = &b, t.read
	return New(o), &b, t
}

func checkText(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

// play reports the events of a whole job.
func play(c *Console, t *clock) {
	const id = "job_local1763723662123_0001"
	c.Log(Info, ClassDeprecation, "io.sort.mb is deprecated. Instead, use mapreduce.task.io.sort.mb")
	c.TotalInputFiles(1)
	c.Splits(2)
	c.Log(Info, ClassJob, "The url to track the job: http://localhost:7080/")
	c.Running(id)
	for _, p := range []Progress{{}, {Map: 0.004}, {Map: 0.5}, {Map: 1, Reduce: 0.333}, {Map: 1, Reduce: 1}} {
		t.advance(time.Second)
		c.Progress(p)
	}
	c.TaskFailed("attempt_local1763723662123_0001_m_000000_0", "bad record\nsecond line\n")
	c.Completed(id)
	c.Counters(counter.Values{counter.GroupFramework: {counter.MapInputRecords.Name: 3}})
}

func TestPipedConsolePrintsHadoopsLines(t *testing.T) {
	c, out, clock := newConsole(Options{})
	play(c, clock)
	checkText(t, out.String(), `2026-11-21 11:14:22,123 INFO Configuration.deprecation: io.sort.mb is deprecated. Instead, use mapreduce.task.io.sort.mb
2026-11-21 11:14:22,123 INFO input.FileInputFormat: Total input files to process : 1
2026-11-21 11:14:22,123 INFO mapreduce.JobSubmitter: number of splits:2
2026-11-21 11:14:22,123 INFO mapreduce.Job: The url to track the job: http://localhost:7080/
2026-11-21 11:14:22,123 INFO mapreduce.Job: Running job: job_local1763723662123_0001
2026-11-21 11:14:23,123 INFO mapreduce.Job:  map 0% reduce 0%
2026-11-21 11:14:25,123 INFO mapreduce.Job:  map 50% reduce 0%
2026-11-21 11:14:26,123 INFO mapreduce.Job:  map 100% reduce 33%
2026-11-21 11:14:27,123 INFO mapreduce.Job:  map 100% reduce 100%
2026-11-21 11:14:27,123 INFO mapreduce.Job: Task Id : attempt_local1763723662123_0001_m_000000_0, Status : FAILED
bad record
second line
2026-11-21 11:14:27,123 INFO mapreduce.Job: Job job_local1763723662123_0001 completed successfully
2026-11-21 11:14:27,123 INFO mapreduce.Job: Counters: 1
	Map-Reduce Framework
		Map input records=3
`)
}

func TestSecondJobBeginsWithItsOwnPercentages(t *testing.T) {
	c, out, _ := newConsole(Options{})
	for _, id := range []string{"job_1_0001", "job_1_0002"} {
		c.Running(id)
		c.Progress(Progress{Map: 1})
	}
	if n := strings.Count(out.String(), " map 100% reduce 0%\n"); n != 2 {
		t.Errorf("%d progress lines of 2 jobs:\n%s", n, out)
	}
}

// TestPartialProgressDoesNotDecrease checks that shown progress decreases only when it is
// complete again.
func TestPartialProgressDoesNotDecrease(t *testing.T) {
	c, out, _ := newConsole(Options{})
	c.Running("job_1_0001")
	for _, p := range []Progress{
		{Map: .5, Reduce: .1}, {Partial: true}, {Map: .2, Reduce: .3, Partial: true}, {Map: .1, Partial: true}, {Map: .4, Reduce: .3},
	} {
		c.Progress(p)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if _, after, found := strings.Cut(line, " map "); found {
			got = append(got, strings.TrimSpace(after))
		}
	}
	if want := []string{"50% reduce 10%", "50% reduce 30%", "40% reduce 30%"}; !slices.Equal(got, want) {
		t.Errorf("shown is %q, expected %q", got, want)
	}
}

func TestQuietConsoleShowsErrorsAlone(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		c, out, clock := newConsole(Options{Quiet: true, Terminal: terminal})
		play(c, clock)
		c.Log(Warn, ClassJob, "a warning")
		checkText(t, out.String(), "")
		c.Failed("job_1_0001", "FAILED", "Task failed task_1_0001_m_000000")
		checkText(t, out.String(), "2026-11-21 11:14:27,123 ERROR mapreduce.Job: "+
			"Job job_1_0001 failed with state FAILED due to: Task failed task_1_0001_m_000000\n")
	}
}

func TestFailedWithoutCause(t *testing.T) {
	c, out, _ := newConsole(Options{})
	c.Failed("job_1_0001", "KILLED", "")
	checkText(t, out.String(),
		"2026-11-21 11:14:22,123 INFO mapreduce.Job: Job job_1_0001 failed with state KILLED\n")
}

func TestControlCharactersAreRemoved(t *testing.T) {
	c, out, _ := newConsole(Options{Terminal: true})
	c.TaskFailed("attempt", "\x1b[2Jgone\r\b")
	c.Counters(counter.Values{"\x1b[31mred": {"n\a": 1}})
	if strings.ContainsAny(out.String(), "\x1b\r\b\a") {
		t.Errorf("control characters in %q", out)
	}
}

func TestConsoleIsSafeForManyGoroutines(t *testing.T) {
	c, out, _ := newConsole(Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c.Progress(Progress{Map: 0.5})
			c.Splits(1)
		})
	}
	wg.Wait()
	if n := strings.Count(out.String(), "\n"); n != 9 {
		t.Errorf("%d lines, want 8 and one of progress:\n%s", n, out)
	}
}

func TestZeroOptionsPrintNothing(t *testing.T) {
	c := New(Options{})
	c.Running("job_1_0001")
	c.Progress(Progress{Map: 1})
	c.Clear()
}

// TestRefreshDrawsWithoutProgress waits for frames that the refresh draws without a call of
// Progress.
func TestRefreshDrawsWithoutProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		c := New(Options{Err: &out, Terminal: true})
		c.Running("job_1")
		stop := c.StartRefresh()
		c.Progress(Progress{Map: 0.25})
		time.Sleep(3 * barRefresh)
		stop()
		if n := strings.Count(out.String(), "map  25%"); n < 2 {
			t.Errorf("%d frames: %q", n, out.String())
		}
	})
}
