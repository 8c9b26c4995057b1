package paper

import (
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// Experiment is one of a paper's figures, tables or claims.
//
// An experiment with trials runs each arm at each point with each seed. One without trials,
// such as Fig. 1 of HFSP, has measures that are computed when the plan is made.
type Experiment struct {
	ID    string // names files: fig3
	Title string // names what is shown, and the paper's figure
	Setup string // for the report: what is run, in sentences

	Arms     []Arm
	Points   []Point // nil for a single one without a name
	Cluster  sim.Config
	Workload Source // nil for experiments without trials
	Runs     int    // bounds the repetitions; 0 for no bound

	Measures []Measure
	Charts   []Chart
	Notes    []string // sentences that explain the results
}

// Arm is a policy with its settings. All arms of an experiment see the same workload,
// cluster and failures for a seed; only the policy differs. That makes a ratio of two arms
// meaningful in a single repetition.
type Arm struct {
	Name   string // for people, unique in the experiment
	Policy string // as sched/registry knows it
	Conf   map[string]string
	Setup  sched.Setup
	Set    func(*Trial) // its own further settings, after those of the point; nil for none

	// Once says that points make no difference to the arm: it runs at the first point, and
	// all points share that outcome.
	Once bool
}

// Point is a value of the parameter that an experiment varies. Set changes a trial before
// the settings of its arm do; nil changes nothing.
type Point struct {
	Name  string
	Value float64 // its place in charts
	Set   func(*Trial)
}

// Source makes the workload of a repetition. It must return equal workloads for equal
// seeds, so that all arms of a repetition get the same jobs.
type Source func(seed uint64) (*workload.Workload, error)

// Each returns the workload with every job changed. Jobs are numbered from 0.
func (s Source) Each(change func(n int, j *workload.Job)) Source {
	return func(seed uint64) (*workload.Workload, error) {
		w, err := s(seed)
		if err != nil {
			return nil, err
		}
		for i := range w.Jobs {
			change(i, &w.Jobs[i])
		}
		return w, nil
	}
}

// Measure is a number that the experiment measures, and the paper's number for it.
//
// The comparison is only as good as its reasons: a test of the short form fails if a number
// differs from the paper's by more than Within and Reason is empty.
type Measure struct {
	Name string
	Unit string // "s", "%", "x" for ratios; may be ""

	Paper  float64 // the paper's number; 0 for none
	Quote  string  // the paper's words, instead of a number or in addition; may be ""
	Within float64 // allowed difference without a reason, as a fraction of Paper; 0 is a tenth. For %, in points; 0 is 2

	// Of is the number in one repetition; NaN for none.
	Of     func(Repeat) float64
	Reason string // why ours may differ from the paper's

	NeedsBlocks bool // it needs jobs that read blocks
}

// Chart is a picture of an experiment. Draw gets all repetitions; pictures over time use
// the first one.
type Chart struct {
	Name    string // of the file, without its extension
	Caption string
	Draw    func([]Repeat) *draw.Figure
}

// points returns the points of the experiment. An experiment without points has one point
// without a name.
func (e *Experiment) points() []Point {
	if len(e.Points) == 0 {
		return []Point{{}}
	}
	return e.Points
}

// Machines returns the most machines that a trial of the experiment has.
func (e *Experiment) Machines() (most int) {
	for _, t := range e.trials(Options{Runs: 1, Seed: 1}) {
		most = max(most, t.Cluster.Machines)
	}
	return most
}
