package mr_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// stepper is a mapper and a reducer that emits the names of its methods as they are called.
// It fails at the step that fault names.
type stepper struct {
	name  string
	fault string // "setup", "panic in setup", "call", "close" or "panic in close"
	own   map[string]bool
	calls int
}

func (s *stepper) Setup(*mr.Task) error {
	if s.own != nil {
		return errors.New("Setup called twice on one instance")
	}
	s.own = make(map[string]bool)
	return s.step("setup")
}

func (s *stepper) step(name string) error {
	switch s.fault {
	case name:
		return fmt.Errorf("%s that fails in %s", s.name, name)
	case "panic in " + name:
		panic(s.name + " that panics in " + name)
	}
	return nil
}

func (s *stepper) Map(_ *mr.Task, _ int64, line string, out textEmitter) error {
	s.calls++
	out.Emit(line, "mapped")
	return s.step("call")
}

func (s *stepper) Reduce(_ *mr.Task, key string, values iter.Seq[string], out textEmitter) error {
	s.calls++
	out.Emit(key, joined(values))
	return s.step("call")
}

func (s *stepper) Close(_ *mr.Task, out textEmitter) error {
	if s.own == nil {
		return errors.New("Close without Setup")
	}
	out.Emit("~"+s.name, fmt.Sprintf("closed after %d", s.calls))
	return s.step("close")
}

func steps(mapFault, reduceFault string) *mr.Job[string, string, string, string] {
	return mr.New("steps", mr.TextStrings(),
		mr.Mapper[int64, string, string, string](&stepper{name: "mapper", fault: mapFault}),
		mr.Reducer[string, string, string, string](&stepper{name: "reducer", fault: reduceFault}),
		mr.TextOutput[string, string]())
}

// TestSetupAndClose checks that each attempt uses its own instance. It runs the job twice to
// check that the first run leaves no state in it.
func TestSetupAndClose(t *testing.T) {
	job := steps("", "")
	for range 2 {
		got := mrtest.RunCase(t, job, mrtest.Case{
			Inputs: []string{"b\na\n", "", "a\n"}, Set: map[string]string{"hammr.input.combine": "false"},
		}).Text()
		want := "a\tmapped,mapped\nb\tmapped\n~mapper\tclosed after 2,closed after 0,closed after 1\n~reducer\tclosed after 3\n"
		if got != want {
			t.Errorf("output %q, want %q", got, want)
		}
	}
}

func TestSetupAndCloseFail(t *testing.T) {
	for _, fault := range []string{"setup", "close", "call", "panic in setup", "panic in close", "panic in call"} {
		step := fault[strings.LastIndex(fault, " ")+1:]
		for _, who := range []string{"mapper", "reducer"} {
			job := steps(fault, "")
			if who == "reducer" {
				job = steps("", fault)
			}
			dir := outputDir(t)
			want := fmt.Sprintf("cause:   %s that fails in %s\n", who, step)
			if fault != step {
				want = fmt.Sprintf("cause:   panic: %s that panics in %s\n", who, step)
			}
			got := fails(t, job, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1", inputDir(t, "a\n"), dir}, want)
			if shown := strings.Contains(got.Stderr, "(*stepper).step"); shown != (fault != step) {
				t.Errorf("%s of %s: stack shown: %v\n%s", fault, who, shown, got.Stderr)
			}
			gone(t, dir)
		}
	}
}

// prepared is a combiner that gives wrong sums without its Setup.
type prepared struct{ factor int64 }

func (p *prepared) Setup(t *mr.Task) error {
	p.factor = 1
	if t.Property("test.setup") == "fails" {
		return errors.New("preparation that fails")
	}
	return nil
}

func (p *prepared) Reduce(_ *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
	var sum int64
	for v := range values {
		sum += v * p.factor
	}
	out.Emit(key, sum)
	return nil
}

func TestSetupOfCombiner(t *testing.T) {
	job := wordCount().Combine(&prepared{})
	if got, want := mrtest.Run(t, job, "a b a\n").Text(), "a\t2\nb\t1\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	dir := outputDir(t)
	fails(t, job, mr.ExitFailed, []string{"-D", "test.setup=fails", "-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), dir}, "cause:   combiner: preparation that fails")
	gone(t, dir)
}

func TestPropertiesAndIdentityOfTask(t *testing.T) {
	job := mr.New("facts", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, offset int64, line string, out textEmitter) error {
		file, at := t.Input()
		out.Emit(line, fmt.Sprintf("m%d of %d %s at %d=%d %s", t.Part(), t.Reduces(), file[strings.LastIndex(file, "/")+1:], at, offset, t.Property("test.mine")))
		return nil
	}), mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[string], out textEmitter) error {
		file, at := t.Input()
		t.SetStatus("at %s", key)
		t.Alive()
		out.Emit(key, fmt.Sprintf("%s r%d %q %d", joined(values), t.Part(), file, at))
		return t.Context().Err()
	}), mr.TextOutput[string, string]()).Set("test.mine", "default").Reduces(1)
	dir := inputDir(t, "a\n", "b\nc\n")
	got := mrtest.Command(t, job, "-D", "hammr.input.combine=true", dir, outputDir(t))
	if want := "a\tm0 of 1 in-0 at 0=0 default r0 \"\" -1\nb\tm0 of 1 in-1 at 0=0 default r0 \"\" -1\nc\tm0 of 1 in-1 at 2=2 default r0 \"\" -1\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	got = mrtest.Command(t, job, "-D", "test.mine=user's", "-D", "hammr.input.combine=false", inputDir(t, "a\n"), outputDir(t))
	if want := "a\tm0 of 1 in-0 at 0=0 user's r0 \"\" -1\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

// TestReducersOfferedServeAnother calls bundled reducers from a user's reducer, without an
// instance of their own.
func TestReducersOfferedServeAnother(t *testing.T) {
	same, sum := mr.IdentityReducer[string, int64](), mr.Sum[string, int64]()
	both := mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
		kept := slices.Collect(values)
		return errors.Join(same.Reduce(t, key, slices.Values(kept), out), sum.Reduce(t, "sum of "+key, slices.Values(kept), out))
	})
	got := mrtest.Run(t, mr.New("both", mr.TextLines(), words, both, mr.TextOutput[string, int64]()), "a b a").Records()
	var text []string
	for _, r := range got {
		text = append(text, fmt.Sprint(r.Key, "=", r.Value))
	}
	if want := "a=1 a=1 sum of a=2 b=1 sum of b=1"; strings.Join(text, " ") != want {
		t.Errorf("got %v, want %s", text, want)
	}
}
