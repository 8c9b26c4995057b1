package mr_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// systemCounter returns a counter of Hadoop's group for records.
func systemCounter(c mr.Counters, name string) int64 { return c[counter.GroupFramework][name] }

// wantCounters compares counters of Hadoop's group for records.
func wantCounters(t testing.TB, c mr.Counters, want map[string]int64) {
	t.Helper()
	for name, n := range want {
		if got := systemCounter(c, name); got != n {
			t.Errorf("counter %s: %d, want %d", name, got, n)
		}
	}
}

// reportOf runs a command and returns its result and its report.
func reportOf(t testing.TB, r mr.Runnable, args ...string) (mrtest.Result, report.Report) {
	t.Helper()
	path := outputDir(t) + ".json"
	result := mrtest.Exec(t, r, append([]string{"--report", path}, args...)...)
	doc, err := report.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, result.Stderr)
	}
	return result, doc
}

// counting is a mapper that uses counters of its own, from Setup to Close.
type counting struct{ long *mr.Counter }

func (c *counting) Setup(t *mr.Task) error {
	c.long = t.Counter("Words", "long")
	return nil
}

func (c *counting) Map(t *mr.Task, offset int64, line []byte, out countEmitter) error {
	t.SetStatus("at byte %d", offset)
	for w := range mr.Words(line) {
		if len(w) > 2 {
			c.long.Add(1)
		}
		out.Emit(string(w), 1)
	}
	return nil
}

func (c *counting) Close(t *mr.Task, _ countEmitter) error {
	t.Counter("Words", "mappers closed").Add(1)
	return nil
}

func TestCounters(t *testing.T) {
	reducer := mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
		if key == "bbb" { // the values of this key are not read
			return nil
		}
		t.Counter("Words", "groups").Add(1)
		return mr.Sum[string, int64]().Reduce(t, key, values, out)
	})
	job := mr.New("counters", mr.TextLines(), mr.Mapper[int64, []byte, string, int64](&counting{}), reducer, mr.TextOutput[string, int64]())
	text := []string{"a bbb a\n\nbbb\n", "a ccc\n"}
	set := map[string]string{"hammr.input.combine": "false", "mapreduce.job.reduces": "2"}
	out := mrtest.RunCase(t, job, mrtest.Case{Inputs: text, Set: set})
	wantCounters(t, out.Counters, map[string]int64{
		"Map input records": 4, "Map output records": 6, "Map output bytes": int64(3*(1+8) + 3*(3+8)),
		"Combine input records": 0, "Combine output records": 0,
		"Reduce input groups": 3, "Reduce input records": 6, "Reduce output records": 2,
		"Spilled Records": 6, "Shuffled Maps ": 4, "Failed Shuffles": 0,
	})
	if got, want := fmt.Sprint(out.Counters["Words"]), "map[groups:2 long:3 mappers closed:2]"; got != want {
		t.Errorf("counters of the user %s, want %s", got, want)
	}
}

// TestCountersOfCombiners uses two kinds of combiner. A fold leaves four records of two
// maps: a, bbb, a and ccc. A reducer drops bbb.
func TestCountersOfCombiners(t *testing.T) {
	dropping := mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
		if key == "bbb" {
			return nil
		}
		return mr.Sum[string, int64]().Reduce(t, key, values, out)
	})
	for name, c := range map[string]struct {
		combiner mr.Reducer[string, int64, string, int64]
		kept     int64
	}{"folding": {mr.Sum[string, int64](), 4}, "general": {dropping, 3}} {
		t.Run(name, func(t *testing.T) {
			out := mrtest.RunCase(t, wordCount().Combine(c.combiner), mrtest.Case{
				Inputs: []string{"a bbb a\n\nbbb\n", "a ccc\n"}, Set: map[string]string{"hammr.input.combine": "false"},
			})
			wantCounters(t, out.Counters, map[string]int64{
				"Map output records": 6, "Combine input records": 6, "Combine output records": c.kept,
				"Reduce input records": c.kept, "Spilled Records": c.kept,
			})
		})
	}
}

func TestCountersAreShownAndReported(t *testing.T) {
	job := mr.MapOnly("counters", mr.TextLines(), mr.Mapper[int64, []byte, string, int64](&counting{}), mr.TextOutput[string, int64]())
	got, doc := reportOf(t, job, inputDir(t, "aaa b\n"), outputDir(t))
	for _, phrase := range []string{"\tMap-Reduce Framework\n\t\tMap input records=1\n\t\tMap output records=2\n", "\tWords\n\t\tlong=1\n\t\tmappers closed=1\n"} {
		if !strings.Contains(got.Stderr, phrase) {
			t.Errorf("no %q in\n%s", phrase, got.Stderr)
		}
	}
	if doc.Counters["Words"]["long"] != 1 || doc.State != "SUCCEEDED" || len(doc.Failures) != 0 {
		t.Errorf("report %+v", doc)
	}
}

func TestCountersOfFailedAttemptsAreNotAdded(t *testing.T) {
	job := mr.MapOnly("retry", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out textEmitter) error {
		t.Counter("Mine", "records").Add(1)
		if line == "bad" && strings.HasSuffix(t.ID(), "_0") {
			return fmt.Errorf("first attempt that fails")
		}
		out.Emit(line, t.ID()[len(t.ID())-2:])
		return nil
	}), mr.TextOutput[string, string]())
	out := mrtest.Run(t, job, "good\nbad\n")
	if got, want := out.Counters["Mine"]["records"], int64(2); got != want {
		t.Errorf("counter %d, want %d", got, want)
	}
	dir := outputDir(t)
	got, doc := reportOf(t, job, inputDir(t, "good\nbad\n"), dir)
	wantFiles(t, dir, map[string]string{"part-m-00000": "good\t_1\nbad\t_1\n"})
	if n := len(doc.Tasks[0].Attempts); n != 2 || len(doc.Failures) != 1 || doc.Failures[0].Cause != "first attempt that fails" {
		t.Errorf("%d attempts, failures %+v", n, doc.Failures)
	}
	if want := "_m_000000_0"; !strings.Contains(got.Stderr, want) || !strings.Contains(got.Stderr, "first attempt that fails") {
		t.Errorf("the failed attempt is not shown\n%s", got.Stderr)
	}
}

// TestCountersOfTheUserAreLimited counts each word under its own name. The limit
// mapreduce.job.counters.limit applies to each attempt and to all attempts together.
func TestCountersOfTheUserAreLimited(t *testing.T) {
	job := mr.MapOnly("names", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, _ textEmitter) error {
		for _, w := range strings.Fields(line) {
			t.Counter("Words", w).Add(1)
		}
		return nil
	}), mr.NullOutput[string, string]())
	for _, c := range []struct {
		name  string
		limit string
		in    []string
		cause string
	}{
		{"at the limit", "4", []string{"a b c a", "c d"}, ""},
		{"one attempt exceeds the limit", "2", []string{"a b c", "a"}, "number of counters: 3, and mapreduce.job.counters.limit is 2"},
		{"all attempts together exceed the limit", "3", []string{"a b c", "c d"}, "too many counters: 4, and mapreduce.job.counters.limit is 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := once("-D", "hammr.input.combine=false", "-D", "mapreduce.job.counters.limit="+c.limit, inputDir(t, c.in...), outputDir(t))
			if c.cause == "" {
				if got := mrtest.Exec(t, job, args...); got.Code != mr.ExitDone {
					t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
				}
				return
			}
			fails(t, job, mr.ExitFailed, args, c.cause)
		})
	}
}
