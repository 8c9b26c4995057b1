package mr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// badLines returns an input with n bad lines among good ones.
func badLines(n int) string {
	var b strings.Builder
	for i := range 4 * n {
		word := fmt.Sprintf("w%02d", i)
		if i%4 == 2 {
			word = "bad"
		}
		b.WriteString(word + " end\n")
	}
	return b.String()
}

// TestSkipping skips each failing record alone, whether the mapper or the partition function
// fails.
func TestSkipping(t *testing.T) {
	for _, where := range []string{"map", "partition"} {
		for name, atBad := range map[string]func(string) error{"error": errorAtBad, "panic": panicAtBad} {
			for _, split := range []string{"1m", "30"} {
				out := mrtest.RunCase(t, fragile(where, atBad), mrtest.Case{Inputs: []string{badLines(4)}, Set: map[string]string{
					"mapreduce.map.skip.maxrecords": "4", "mapreduce.job.reduces": "2", "mapreduce.map.maxattempts": "1",
					"mapreduce.input.fileinputformat.split.maxsize": split,
				}})
				got := out.Map()
				if len(got) != 13 || got["end"] != 12 || got["w00"] != 1 || got["w15"] != 1 || got["bad"] != 0 {
					t.Errorf("%s, %s, splits of %s: output %v", where, name, split, got)
				}
				wantCounters(t, out.Counters, map[string]int64{"Map skipped records": 4, "Map input records": 16, "Map output records": 24})
			}
		}
	}
}

func TestSkippingIsReported(t *testing.T) {
	dir := outputDir(t)
	got, doc := reportOf(t, fragile("map", errorAtBad), "-D", "mapreduce.map.skip.maxrecords=2", inputDir(t, badLines(2)), dir)
	if got.Code != mr.ExitDone || len(doc.Failures) != 2 {
		t.Fatalf("exit code %d, failures %+v", got.Code, doc.Failures)
	}
	for i, f := range doc.Failures {
		if want := int64(16 + 32*i); !f.Skipped || f.Offset != want || f.Cause != "word that is an error" {
			t.Errorf("failure %+v, want one at byte %d that was skipped", f, want)
		}
	}
}

// TestSkippingHasALimit checks that the task fails at the first record beyond the limit.
func TestSkippingHasALimit(t *testing.T) {
	for _, limit := range []string{"0", "2"} {
		dir := outputDir(t)
		got, doc := reportOf(t, fragile("map", errorAtBad), append([]string{"-D", "mapreduce.map.skip.maxrecords=" + limit}, once(inputDir(t, badLines(3)), dir)...)...)
		if got.Code != mr.ExitFailed || doc.State != "FAILED" {
			t.Errorf("limit %s: exit code %d, state %s", limit, got.Code, doc.State)
		}
		last := doc.Failures[len(doc.Failures)-1]
		if fmt.Sprint(len(doc.Failures)-1) != limit || last.Skipped || last.Cause != "word that is an error" {
			t.Errorf("limit %s: failures %+v", limit, doc.Failures)
		}
		gone(t, dir)
	}
}

func TestRecordsOfAFormatAreSkipped(t *testing.T) {
	type city struct{ Name string }
	job := mr.MapOnly("cities", mr.JSONLines[city](), mr.MapFunc(func(_ *mr.Task, offset int64, c city, out textEmitter) error {
		out.Emit(c.Name, fmt.Sprint(offset))
		return nil
	}), mr.TextOutput[string, string]())
	const text = `{"Name":"Bonn"}` + "\n" + `{"Name":5}` + "\n" + `{"Name":"Lyon"}` + "\nno JSON\n"
	out := mrtest.RunCase(t, job, mrtest.Case{Inputs: []string{text}, Set: map[string]string{"mapreduce.map.skip.maxrecords": "2"}})
	if got, want := out.Text(), "Bonn\t0\nLyon\t27\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	wantCounters(t, out.Counters, map[string]int64{"Map skipped records": 2, "Map input records": 4})
	fails(t, job, mr.ExitFailed, once(inputDir(t, text), outputDir(t)),
		"cause:   line that is not the JSON of a mr_test.city: json: cannot unmarshal number into Go struct field city.Name of type string\n", "in-0 at byte 16\n")
}

// TestSkippingLeavesOtherFailuresAlone checks that failures of a reader or of Close are not
// skipped.
func TestSkippingLeavesOtherFailuresAlone(t *testing.T) {
	fails(t, steps("close", ""), mr.ExitFailed, append([]string{"-D", "mapreduce.map.skip.maxrecords=9"}, once(inputDir(t, "a\n"), outputDir(t))...), "cause:   mapper that fails in close\n")
	fails(t, letterJob("read"), mr.ExitFailed, append([]string{"-D", "mapreduce.map.skip.maxrecords=9"}, once(inputDir(t), outputDir(t))...), "cause:   input that cannot be read\n")
}
