package mrtest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/task/disturb"
	"github.com/hammr/hammr/mr"
)

// Job is a mr.Job or a mr.Definition of any types.
type Job interface {
	mr.Runnable
	Name() string
}

// Stress runs a job or a graph on inputs, as Run and RunGraph do, and then again and again while
// its attempts are split, checkpointed, suspended, failed and poisoned. The files of its output must have the
// same bytes each time. If they do not, the test fails and names the smallest disturbance that
// changes them:
//
//	wordcount: the output changes with poison: a function keeps a view of a record, …
//	wordcount: the output changes if map 0, attempt 0: is split at record 3; …
//	wordcount: two undisturbed runs differ: …
//
// The disturbances follow from a fixed seed, so a failure repeats. The job must write files in its
// own format, and each input should have at least some tens of records.
func Stress(t testing.TB, job Job, inputs ...string) {
	t.Helper()
	StressCase(t, job, Case{Inputs: inputs})
}

// StressCase is Stress of a job with a configuration, properties or side files. c.Fails is ignored.
func StressCase(t testing.TB, job Job, c Case) {
	t.Helper()
	if found := stress(t, job, c); found != "" {
		t.Fatalf("%s: %s", job.Name(), found)
	}
}

const (
	stressSeed   = 1
	stressRounds = 12
	// undisturbedRuns are compared before any disturbance. Go's order of a map of two keys is the
	// same in two runs half of the time.
	undisturbedRuns = 6
)

// conditions are how a job is run.
type conditions struct {
	set  setting
	plan *disturb.Plan
}

// setting is a set of properties that must change no byte of the output.
type setting map[string]string

// poisoned overwrites what was lent.
var poisoned = setting{"hammr.debug.poison": "true"}

// String lists the properties.
func (s setting) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		all = append(all, name+"="+s[name])
	}
	return strings.Join(all, ", ")
}

// drawSetting draws the size of splits, memory, and the number of tasks at once.
func drawSetting(rng *rand.Rand) setting {
	s := setting{"mapreduce.input.fileinputformat.split.maxsize": fmt.Sprint(20 + rng.IntN(2000))}
	if rng.IntN(2) == 0 {
		s["mapreduce.task.io.sort.mb"] = "1"
	}
	if rng.IntN(2) == 0 {
		s["mapreduce.task.io.sort.factor"] = "2"
	}
	if rng.IntN(3) == 0 {
		maps.Copy(s, poisoned)
	}
	return s
}

// stressed is a job under stress.
type stressed struct {
	t    testing.TB
	job  Job
	c    Case
	want map[string]string // files of the undisturbed run
}

// stress returns a description of the smallest disturbance that changes the output; "" if none
// does.
func stress(t testing.TB, job Job, c Case) string {
	t.Helper()
	s := &stressed{t: t, job: job, c: c}
	first, failure := s.run(conditions{})
	switch {
	case failure != "":
		return "fails without any disturbance:\n" + failure
	case len(first) == 0:
		return "writes no file, so there is nothing to compare"
	}
	s.want = first
	for range undisturbedRuns - 1 {
		if d := s.difference(conditions{}); d != "" {
			return "two undisturbed runs differ: the program is not deterministic. A map or reduce that runs again emits other records, and a job whose tasks run again loses or doubles some. Use no random number, no time and no order of a Go map in what is emitted. " + d
		}
	}
	if d := s.difference(conditions{set: poisoned}); d != "" {
		return "the output changes with poison alone: a function keeps a view of a record that is no longer valid. Copy what is kept, as by bytes.Clone. " + d
	}
	for round := range uint64(stressRounds) {
		rng := rand.New(rand.NewPCG(stressSeed, round))
		under := conditions{set: drawSetting(rng), plan: disturb.Draw(rng.Uint64())}
		if d := s.difference(under); d != "" {
			return fmt.Sprintf("%s (seed %d, round %d)", s.shrink(under, d), stressSeed, round)
		}
	}
	return ""
}

// shrink describes the smallest part of the conditions that still changes the output: a property, a
// disturbance, or as few of them as it finds by leaving out one after another.
func (s *stressed) shrink(under conditions, difference string) string {
	set, happened := maps.Clone(under.set), under.plan.Happened()
	changed := func(set setting, these []disturb.Disturbance) bool {
		d := s.difference(conditions{set, disturb.These(these)})
		difference = cmp.Or(d, difference)
		return d != ""
	}
	for _, d := range happened {
		if one := []disturb.Disturbance{d}; changed(nil, one) {
			return described(nil, one) + difference
		}
	}
	for name := range under.set {
		without := maps.Clone(set)
		if delete(without, name); changed(without, happened) {
			set = without
		}
	}
	for i := len(happened) - 1; i >= 0; i-- {
		if without := slices.Delete(slices.Clone(happened), i, i+1); changed(set, without) {
			happened = without
		}
	}
	changed(set, happened)
	return described(set, happened) + difference
}

// described says what changes the output, and what that means.
func described(set setting, happened []disturb.Disturbance) string {
	var causes, advice []string
	if len(set) > 0 {
		causes = append(causes, "with "+set.String())
	}
	if _, ok := set["mapreduce.input.fileinputformat.split.maxsize"]; ok {
		advice = append(advice, "It depends on where the input is divided into splits.")
	}
	for _, d := range happened {
		causes = append(causes, "if "+d.String())
		switch d.Action {
		case disturb.Split:
			advice = append(advice, "It depends on where the input is divided: a mapper must not carry state from record to record, unless it has Save and Load.")
		case disturb.Checkpoint:
			advice = append(advice, "State that is not in Save is lost in a checkpoint.")
		case disturb.Suspend:
			advice = append(advice, "It depends on time, or its format on the file to which it writes.")
		case disturb.Fail:
			advice = append(advice, "An attempt that runs again emits other records than the first: the program is not deterministic, or has effects outside of Emit.")
		}
	}
	return "the output changes " + strings.Join(causes, " and ") + ". " + strings.Join(slices.Compact(advice), " ") + " "
}

// difference runs the job and says how its output differs from the first; "" if it does not.
func (s *stressed) difference(under conditions) string {
	s.t.Helper()
	got, failure := s.run(under)
	if failure != "" {
		return "The job fails:\n" + failure
	}
	for name, want := range s.want {
		if got[name] != want {
			return fmt.Sprintf("File %s has %s.", name, firstDifference(got[name], want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := s.want[name]; !ok {
			return fmt.Sprintf("There is a file %s more.", name)
		}
	}
	return ""
}

// firstDifference describes the first line in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%.80q instead of %.80q in line %d", a[i], b[i], i+1)
		}
	}
	return fmt.Sprintf("%d lines instead of %d", len(a)-1, len(b)-1)
}

// run runs the job once and returns the files of its output, or what it has printed if it fails.
func (s *stressed) run(under conditions) (files map[string]string, failure string) {
	s.t.Helper()
	c := s.c
	c.plan, c.Set = under.plan, maps.Clone(s.c.Set)
	if c.Set == nil {
		c.Set = make(map[string]string)
	}
	maps.Copy(c.Set, under.set)
	dir := s.t.TempDir()
	out := filepath.Join(dir, "output")
	_, code, log := c.try(s.t, s.job.Name(), s.job, dir, out)
	if code != mr.ExitDone {
		return nil, log
	}
	written := &Written{Files: make(map[string]string)}
	written.read(s.t, out)
	return written.Files, ""
}
