package mr_test

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/mr"
)

// once adds options that limit each task to one attempt.
func once(args ...string) []string {
	return append([]string{"-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1"}, args...)
}

// errorAtBad and panicAtBad are the failures of fragile: an error or a panic at the word
// "bad".
func errorAtBad(word string) error {
	if word == "bad" {
		return errors.New("word that is an error")
	}
	return nil
}

func panicAtBad(word string) error {
	if word == "bad" {
		panic("word that panics")
	}
	return nil
}

// fragile returns a word count that fails at the word "bad". where selects the failing part:
// "map", "combine", "reduce" or "partition".
func fragile(where string, atBad func(string) error) *mr.Job[string, int64, string, int64] {
	in := func(place, word string) error {
		if place != where {
			return nil
		}
		return atBad(word)
	}
	sum := mr.Sum[string, int64]()
	reducer := func(place string) mr.Reducer[string, int64, string, int64] {
		return mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
			t.Log().Info("group", "place", place, "key", key)
			return errors.Join(sum.Reduce(t, key, values, out), in(place, key))
		})
	}
	job := mr.New("fragile", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out countEmitter) error {
		for _, w := range strings.Fields(line) {
			t.Log().Warn("word", "is", w)
			if err := in("map", w); err != nil {
				return err
			}
			out.Emit(w, 1)
		}
		return nil
	}), reducer("reduce"), mr.TextOutput[string, int64]()).Partition(func(key string, n int) int {
		if err := in("partition", key); err != nil {
			panic(err)
		}
		return len(key) % n
	})
	if where == "combine" {
		job.Combine(reducer("combine"))
	}
	return job
}

// TestFailureRecords makes each part of the user code fail, with an error and with a panic.
// The report and the console name the cause, the task, the attempt and, if known, the record
// and the stack.
func TestFailureRecords(t *testing.T) {
	for _, where := range []string{"map", "partition", "combine", "reduce"} {
		for kind, atBad := range map[string]func(string) error{"error": errorAtBad, "panic": panicAtBad} {
			t.Run(where+"/"+kind, func(t *testing.T) {
				dir, in := outputDir(t), inputDir(t, "fine\n", "x y\nz bad z\nbad\n")
				got, doc := reportOf(t, fragile(where, atBad), once("-D", "mapreduce.job.reduces=2", "-D", "hammr.input.combine=false", in, dir)...)
				if got.Code != mr.ExitFailed || doc.State != "FAILED" {
					t.Errorf("exit code %d, state %s", got.Code, doc.State)
				}
				checkFailure(t, where, kind, in, doc)
				checkShown(t, got.Stderr, doc)
				onlyIn(t, filepath.Dir(dir))
			})
		}
	}
}

// checkFailure compares the report's first failure with the failure of fragile.
func checkFailure(t *testing.T, where, kind, in string, doc report.Report) {
	t.Helper()
	if len(doc.Failures) != 1 {
		t.Fatalf("failures %+v, want one", doc.Failures)
	}
	f := doc.Failures[0]
	cause := map[string]string{"error": "word that is an error", "panic": "panic: word that panics"}[kind]
	switch {
	case where == "partition" && kind == "error":
		cause = "panic: " + cause // a partition function can fail only by a panic
	case where == "combine" && kind == "error":
		cause = "combiner: " + cause
	}
	if f.Cause != cause {
		t.Errorf("cause %q, want %q", f.Cause, cause)
	}
	task := "_m_000001"
	if where == "reduce" {
		task = "_r_000001"
	}
	if !strings.HasSuffix(f.Task, task) || !strings.HasSuffix(f.Attempt, task+"_0") || f.Tasknode == "" {
		t.Errorf("task %s, attempt %s, node %q: want those of %s", f.Task, f.Attempt, f.Tasknode, task)
	}
	input, offset := "", int64(-1)
	if where == "map" || where == "partition" {
		input, offset = filepath.Join(in, "in-1"), 4
	}
	if !strings.HasSuffix(f.Input, input) || (f.Input == "") != (input == "") || f.Offset != offset {
		t.Errorf("input %q at %d, want %q at %d", f.Input, f.Offset, input, offset)
	}
	if stack := strings.Contains(f.Stack, "mr_test.panicAtBad"); stack != (kind == "panic") {
		t.Errorf("stack of the panic: %v\n%s", stack, f.Stack)
	}
	last := map[string]string{"map": `level=WARN msg=word is=bad`, "partition": `level=WARN msg=word is=bad`,
		"combine": "msg=group place=combine key=bad", "reduce": "msg=group place=reduce key=bad"}[where]
	if lines := strings.Split(strings.TrimSpace(f.Log), "\n"); !strings.HasSuffix(lines[len(lines)-1], last) {
		t.Errorf("log ends in %q, want %q", lines[len(lines)-1], last)
	}
}

// checkShown checks that the console shows what the report contains.
func checkShown(t *testing.T, stderr string, doc report.Report) {
	t.Helper()
	f := doc.Failures[0]
	phrases := []string{"Failure of " + f.Task + "\n", "cause:   " + f.Cause + "\n", "attempt: " + f.Attempt + "\n", "end of its log:\n"}
	if f.Input != "" {
		phrases = append(phrases, fmt.Sprintf("input:   %s at byte %d\n", f.Input, f.Offset))
	}
	if strings.Contains(f.Stack, "panicAtBad") {
		phrases = append(phrases, "  stack:\n    github.com/hammr/hammr/mr_test.panicAtBad(")
	}
	for _, phrase := range phrases {
		if !strings.Contains(stderr, phrase) {
			t.Errorf("no %q in\n%s", phrase, stderr)
		}
	}
}

// TestFirstCauseIsShown runs a job whose first panic causes a second one. The cause shown
// names both.
func TestFirstCauseIsShown(t *testing.T) {
	job := mr.MapOnly("second", mr.TextStrings(), mr.MapFunc(func(*mr.Task, int64, string, textEmitter) (err error) {
		defer func() {
			if v := recover(); v != nil {
				panic(fmt.Sprint("second panic, after ", v))
			}
		}()
		panic("first panic")
	}), mr.TextOutput[string, string]())
	fails(t, job, mr.ExitFailed, once(inputDir(t, "a\n"), outputDir(t)), "cause:   panic: second panic, after first panic\n")
}

func TestQuietReportsFailures(t *testing.T) {
	dir := outputDir(t)
	got := fails(t, fragile("map", errorAtBad), mr.ExitFailed, append([]string{"--quiet"}, once(inputDir(t, "bad\n"), dir)...), "cause:   word that is an error\n", "in-0 at byte 0\n")
	if strings.Contains(got.Stderr, "Running job") {
		t.Errorf("quiet, but\n%s", got.Stderr)
	}
}

// TestAttempts checks that failing tasks make as many attempts as the properties allow.
func TestAttempts(t *testing.T) {
	for _, where := range []string{"map", "reduce"} {
		for _, attempts := range []int{1, 2, 4} {
			dir := outputDir(t)
			got, doc := reportOf(t, fragile(where, errorAtBad), "-D", fmt.Sprintf("mapreduce.%s.maxattempts=%d", where, attempts), inputDir(t, "bad\n"), dir)
			if got.Code != mr.ExitFailed || len(doc.Failures) != attempts {
				t.Errorf("%s: exit code %d, %d failures, want %d", where, got.Code, len(doc.Failures), attempts)
			}
			for i, f := range doc.Failures {
				if want := fmt.Sprintf("_000000_%d", i); !strings.HasSuffix(f.Attempt, want) || f.Cause != "word that is an error" {
					t.Errorf("failure %d of attempt %s by %q", i, f.Attempt, f.Cause)
				}
			}
			gone(t, dir)
		}
	}
}
