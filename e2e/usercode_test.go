package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/report"
)

// badLine returns an input of a few lines with "bad" at the offset returned.
func badLine(t *testing.T) (in string, offset int64) {
	t.Helper()
	text := strings.Repeat("good\n", 100)
	return newFile(t, "in", []byte(text+"bad\n"+text)), int64(len(text))
}

// TestFaultsOfUserCode runs programs that panic or fail, or whose codec does. The user sees
// the cause, the record and the place in the code.
func TestFaultsOfUserCode(t *testing.T) {
	in, offset := badLine(t)
	for _, c := range []struct {
		program string
		texts   []string // texts on stderr
		stack   string   // a function on the stack; "" without a panic
		record  bool     // whether the input of the record is known
	}{
		{"panics", []string{"boom on bad", "programs_test.go"}, "lineCounter", true},
		{"fails", []string{"bad is not welcome"}, "", true},
		{"encodes", []string{"no code for bad"}, "", true},
		{"decodes", []string{"no value for bad"}, "", false},
		{"decodes 2", []string{"codec out of its depth", "programs_test.go"}, "Decode", false},
	} {
		t.Run(c.program, func(t *testing.T) {
			dir := t.TempDir()
			out, doc := filepath.Join(dir, "out"), filepath.Join(dir, "report")
			p := startProgram(t, c.program, "--report", doc, in, out)
			texts := append([]string{"failed 4 times", "attempt_local"}, c.texts...)
			if c.record {
				texts = append(texts, in, fmt.Sprint(offset))
			}
			p.wait(t).want(t, 1, texts...)
			noOutput(t, out)
			r, err := report.ReadFile(doc)
			must(t, err)
			if len(r.Failures) != 4 || r.State != report.Failed {
				t.Fatalf("%s with %d failures: %+v", r.State, len(r.Failures), r.Failures)
			}
			f := r.Failures[0]
			if !strings.Contains(f.Cause, c.texts[0]) || !strings.Contains(f.Stack, c.stack) {
				t.Errorf("first failure: %+v", f)
			}
			if c.record && (f.Offset != offset || f.Input != "file://"+in) {
				t.Errorf("the record is %s at %d, want file://%s at %d", f.Input, f.Offset, in, offset)
			}
		})
	}
}

// TestSkippedRecord checks that the job skips the record on which the mapper fails.
func TestSkippedRecord(t *testing.T) {
	in, _ := badLine(t)
	for _, program := range []string{"panics", "fails", "encodes"} {
		out := filepath.Join(t.TempDir(), "out")
		startProgram(t, program, "-D", "mapreduce.map.skip.maxrecords=1", in, out).wait(t).want(t, 0)
		wantSame(t, parts(t, out, 1), []byte("line\t200\n"))
	}
}

// TestMapperThatNeverReturns checks mapreduce.task.timeout. It ends a mapper at once if the
// mapper obeys its context, and otherwise after 5 s, with its stack.
func TestMapperThatNeverReturns(t *testing.T) {
	t.Parallel()
	in, _ := badLine(t)
	for program, texts := range map[string][]string{
		"obeys": {"failed to report status for 1 seconds", "mapreduce.task.timeout", "failed 2 times"},
		"hangs": {"failed to report status for 1 seconds", "lineCounter"},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			r := startProgram(t, program, "-D", "mapreduce.task.timeout=1s", "-D", "mapreduce.map.maxattempts=2", in, out).wait(t)
			r.want(t, 1, texts...)
			r.within(t, 20*time.Second)
			noOutput(t, out)
		})
	}
}

// TestProgramThatExits runs a program that ends the process during the job. No file looks
// like a result.
func TestProgramThatExits(t *testing.T) {
	in, _ := badLine(t)
	out := filepath.Join(t.TempDir(), "out")
	startProgram(t, "exits", in, out).waitOnly(t).want(t, 7)
	nothingWhole(t, out)
}

// nothingWhole checks that a local output directory contains nothing that looks like a
// result: no _SUCCESS, and no file without a leading _ or dot.
func nothingWhole(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return
	}
	must(t, err)
	for _, e := range entries {
		if name := e.Name(); name == "_SUCCESS" || name[0] != '_' && name[0] != '.' {
			t.Errorf("%s holds %s", dir, name)
		}
	}
}
