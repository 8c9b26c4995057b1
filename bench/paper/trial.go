package paper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
)

// Trial is one run: a policy, a cluster and a workload, with all settings.
//
// It is self-contained, so that any Runner can run it alone and in any order.
type Trial struct {
	Experiment, Arm, Point string
	Run                    int // from 0
	Seed                   uint64

	Policy   string
	Conf     map[string]string
	Setup    sched.Setup
	Cluster  sim.Config // without its policy and seed
	Workload Source
}

// Outcome is the result of a trial on any Runner.
type Outcome = sim.Result

// Runner runs trials. Several goroutines use it at once.
//
//	Simulator       virtual time, any number at once
//	live.Simulated  the same, scaled as on a real cluster
//	live.Runner     processes on this machine, one trial at a time
type Runner interface {
	Run(context.Context, Trial) (*Outcome, error)
}

// LeftOut is the error of a trial that lacks something on this machine that other trials do
// not need. The report leaves out its arm, and gives the reason.
type LeftOut struct{ Reason string }

// Error implements error.
func (l *LeftOut) Error() string { return l.Reason }

// skipRecorder records in a report the trials that another Runner leaves out. Their outcomes
// are nil.
type skipRecorder struct {
	Runner
	report *Report
	mu     sync.Mutex // guards report.Skipped
}

// Run implements Runner.
func (l *skipRecorder) Run(ctx context.Context, t Trial) (*Outcome, error) {
	o, err := l.Runner.Run(ctx, t)
	var out *LeftOut
	if !errors.As(err, &out) {
		return o, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if skipped := (Skipped{t.Experiment + ", arm " + t.Arm, out.Reason}); !slices.Contains(l.report.Skipped, skipped) {
		l.report.Skipped = append(l.report.Skipped, skipped)
	}
	return nil, nil
}

// Simulator runs trials in virtual time.
type Simulator struct{}

// Run runs a trial to its end. Policies that use true sizes get them from the workload.
func (Simulator) Run(ctx context.Context, t Trial) (*Outcome, error) {
	w, err := t.Workload(t.Seed)
	if err != nil {
		return nil, err
	}
	cfg := t.Cluster
	cfg.Seed = t.Seed
	t.Setup.Oracle = sim.Oracle(w)
	if cfg.Policy, err = registry.New(t.Policy, t.Conf, t.Setup); err != nil {
		return nil, err
	}
	return sim.Run(ctx, cfg, w)
}

// String returns a name that is unique within a paper; it names the files of the trial.
func (t Trial) String() string {
	text := fmt.Sprintf("%s, %s", t.Experiment, t.Arm)
	if t.Point != "" {
		text += ", " + t.Point
	}
	return fmt.Sprintf("%s, seed %d", text, t.Seed)
}

// trials returns all trials of an experiment, repetition by repetition. Settings of the point
// come before those of the arm, so an arm can override a point.
func (e *Experiment) trials(o Options) (list []Trial) {
	if e.Workload == nil {
		return nil
	}
	// Repetition by repetition, so that an interrupted run on a real cluster has whole
	// ones.
	for run := range e.runs(o) {
		for i, p := range e.points() {
			for _, a := range e.Arms {
				if a.Once && i > 0 {
					continue
				}
				t := Trial{
					Experiment: e.ID, Arm: a.Name, Point: p.Name, Run: run, Seed: o.Seed + uint64(run),
					Policy: a.Policy, Conf: maps.Clone(a.Conf), Setup: a.Setup, Cluster: e.Cluster, Workload: e.Workload,
				}
				for _, set := range []func(*Trial){p.Set, a.Set} {
					if set != nil {
						set(&t)
					}
				}
				list = append(list, t)
			}
		}
	}
	return list
}

// runs returns the number of repetitions of an experiment.
func (e *Experiment) runs(o Options) int {
	if e.Runs > 0 {
		return min(e.Runs, o.Runs)
	}
	return o.Runs
}

// asInHadoop returns the settings with which a policy behaves as in Hadoop. The papers'
// experiments compare with Hadoop's fair scheduler, which does not conserve shares.
func asInHadoop(policy string) map[string]string {
	if policy != "fair" {
		return nil
	}
	return map[string]string{registry.ConserveShares: "false"}
}

// set sets a setting of the policy, for points. It belongs to this trial alone: trials
// clones the settings of the arm.
func (t *Trial) set(name, value string) {
	if t.Conf == nil {
		t.Conf = make(map[string]string)
	}
	t.Conf[name] = value
}

// Repeat is the outcomes of one repetition, for all arms and points and the same seed. A
// Measure compares outcomes of one Repeat only, never of two, so that differences between
// seeds do not mix with those between policies.
type Repeat struct {
	Run  int
	Seed uint64

	outcomes map[armAndPoint]*Outcome
}

// armAndPoint is the key of an outcome within a repetition.
type armAndPoint struct{ arm, point string }

// At returns the outcome of an arm at a point. It panics for an arm that the experiment does
// not have.
func (r Repeat) At(arm, point string) *Outcome {
	o := r.outcomes[armAndPoint{arm, point}]
	if o == nil {
		panic(fmt.Sprintf("paper: no outcome of arm %q at point %q", arm, point))
	}
	return o
}

// Has reports whether an arm was run, in an experiment without points. A Runner may leave
// out arms. Measures of an arm that may be missing ask first and return NaN.
func (r Repeat) Has(arm string) bool { return r.outcomes[armAndPoint{arm, ""}] != nil }

// Of returns the outcome of an arm in an experiment without points.
func (r Repeat) Of(arm string) *Outcome { return r.At(arm, "") }

// repeats groups the outcomes of an experiment's trials by repetition. Without trials there
// is one empty repetition. The outcomes of left-out trials are nil. Trials are in the order
// of repetitions.
func (e *Experiment) repeats(trials []Trial, outcomes []*Outcome) (list []Repeat) {
	for i, t := range trials {
		if t.Run == len(list) {
			list = append(list, Repeat{Run: t.Run, Seed: t.Seed, outcomes: make(map[armAndPoint]*Outcome)})
		}
		list[t.Run].outcomes[armAndPoint{t.Arm, t.Point}] = outcomes[i]
	}
	if len(list) == 0 {
		return []Repeat{{}}
	}
	// Measures of other points find the outcome of an arm that runs once as well.
	first := e.points()[0].Name
	for _, a := range e.Arms {
		for _, p := range e.points() {
			for _, r := range list {
				if a.Once {
					r.outcomes[armAndPoint{a.Name, p.Name}] = r.outcomes[armAndPoint{a.Name, first}]
				}
			}
		}
	}
	return list
}
