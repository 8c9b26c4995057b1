package raftlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// The operations of clients, and the state of a cluster as they see it: the jobs in the
// order of their numbers, each with a letter for its state.
//
//	R: it was last seen running          O: it was killed, unless it had finished before
//	D: it was seen finished              K: it was seen killed
//
// A job may finish at any time, but only once: that is its commit. From then on every
// client sees its complete output. It may see it earlier: the commit is in the log only
// after the files have their names.
type (
	submission struct{ name string } // with the client and the sequence that identify it
	killing    struct{ job int }
	listing    struct{}
	looking    struct{ job int } // for the mark of a complete output
)

// jobList is a state, as "name:letter name:letter".
type jobList string

// linearModel is a cluster that does one operation at a time. A submission returns the
// number of the job, a listing a jobList of R, D and K, a look whether the output is
// complete, and a kill nothing.
var linearModel = porcupine.Model{
	Init: func() any { return jobList("") },
	Step: func(state, input, output any) (bool, any) {
		jobs := strings.Fields(string(state.(jobList)))
		ok := true
		switch in := input.(type) {
		case submission:
			jobs, ok = submitted(jobs, in.name, output.(int))
		case killing:
			if ok = in.job <= len(jobs); ok {
				if name, running := strings.CutSuffix(jobs[in.job-1], ":R"); running {
					jobs[in.job-1] = name + ":O"
				}
			}
		case looking:
			ok = in.job <= len(jobs) && (output.(bool) || !strings.HasSuffix(jobs[in.job-1], ":D"))
		case listing:
			jobs, ok = seen(jobs, strings.Fields(string(output.(jobList))))
		}
		return ok, jobList(strings.Join(jobs, " "))
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%T%v = %v", input, input, output) },
}

// submitted adds a job, unless it exists: then it keeps its number.
func submitted(jobs []string, name string, number int) ([]string, bool) {
	for i, job := range jobs {
		if strings.HasPrefix(job, name+":") {
			return jobs, number == i+1
		}
	}
	return append(jobs, name+":R"), number == len(jobs)+1
}

// seen checks what a client saw against the possible states, and narrows them.
func seen(jobs, saw []string) ([]string, bool) {
	if len(jobs) != len(saw) {
		return jobs, false
	}
	for i, job := range jobs {
		name, may, _ := strings.Cut(job, ":")
		sawName, is, _ := strings.Cut(saw[i], ":")
		next := map[string]string{"R": "RD", "O": "DK", "D": "D", "K": "K"}[may]
		if name != sawName || !strings.Contains(next, is) {
			return jobs, false
		}
	}
	return saw, true
}

// TestWhatTheModelForbids checks single steps of the model.
func TestWhatTheModelForbids(t *testing.T) {
	type op struct{ input, output any }
	list := func(jobs string) op { return op{listing{}, jobList(jobs)} }
	a, b := op{submission{"a"}, 1}, op{submission{"b"}, 2}
	kill := op{killing{1}, nil}
	look := func(whole bool) op { return op{looking{1}, whole} }
	for name, c := range map[string]struct {
		ops []op
		ok  bool
	}{
		"submitted again":     {[]op{a, b, a, list("a:R b:D")}, true},
		"submitted twice":     {[]op{a, {submission{"a"}, 2}}, false},
		"a submission lost":   {[]op{a, b, list("a:R")}, false},
		"killed":              {[]op{a, kill, list("a:K"), kill, list("a:K")}, true},
		"done before":         {[]op{a, kill, list("a:D"), list("a:D")}, true},
		"killed and running":  {[]op{a, kill, list("a:R")}, false},
		"done after all":      {[]op{a, kill, list("a:K"), list("a:D")}, false},
		"killed by no call":   {[]op{a, list("a:K")}, false},
		"done and not":        {[]op{a, list("a:D"), list("a:R")}, false},
		"fails":               {[]op{a, list("a:F")}, false},
		"killed before it is": {[]op{kill}, false},
		"whole, then done":    {[]op{a, look(false), look(true), list("a:R"), list("a:D"), look(true)}, true},
		"done and not whole":  {[]op{a, list("a:D"), look(false)}, false},
		"whole and killed":    {[]op{a, look(true), kill, list("a:K"), look(false)}, true},
		"whole before it is":  {[]op{look(true)}, false},
	} {
		var history []porcupine.Operation
		for i, o := range c.ops {
			history = append(history, porcupine.Operation{Input: o.input, Output: o.output, Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		if got := porcupine.CheckOperations(linearModel, history); got != c.ok {
			t.Errorf("%s: linearizable is %v", name, got)
		}
	}
}
