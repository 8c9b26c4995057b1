package paper

import (
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/plot"
	"github.com/hammr/hammr/sim/workload"
)

// Experiment is one of a paper's figures, tables or claims.
type Experiment struct {
	ID    string // names files: fig3
	Title string // names what is shown, and the paper's figure
	Setup string // what is run, in sentences, for the report

	Arms     []Arm
	Points   []Point // nil is one without a name
	Cluster  sim.Config
	Workload Source // nil for experiments without trials
	Runs     int    // at most so many repetitions; 0 is as many as are asked for

	Measures []Measure
	Charts   []Chart
	Notes    []string // that explain what is seen, sentences
}

// Arm is a policy with its settings.
type Arm struct {
	Name   string // for people, unique in the experiment
	Policy string // as sched/registry knows it
	Conf   map[string]string
	Setup  sched.Setup
	Set    func(*Trial) // what else is its own; nil for nothing. Points come first

	// Once says that points make no difference to it: it is run at the first, and
	// that is what it has at all of them.
	Once bool
}

// Point is a value of what an experiment varies.
type Point struct {
	Name  string
	Value float64 // where it stands in charts
	Set   func(*Trial)
}

// Source makes the workload of a repetition.
type Source func(seed uint64) (*workload.Workload, error)

// Measure is a number that the experiment finds, and what the paper says.
type Measure struct {
	Name string
	Unit string // "s", "%", "x" for ratios; may be ""

	Paper  float64 // the paper's number; 0 when it has none
	Quote  string  // what it says instead, or in its own words; may be ""
	Within float64 // by which part of Paper ours may differ without a reason; 0 is a tenth. Of %, by how many points; 0 is 2

	// Of is the number in one repetition; NaN when it has none.
	Of     func(Repeat) float64
	Reason string // ours may differ from the paper's

	NeedsBlocks bool // it is about where input lies, which jobs without input cannot tell
}

// Chart is a picture of an experiment.
type Chart struct {
	Name    string // of the file, without its ending
	Caption string
	Draw    func([]Repeat) *plot.Figure
}

// points are those of the experiment, one at least.
func (e *Experiment) points() []Point {
	if len(e.Points) == 0 {
		return []Point{{}}
	}
	return e.Points
}
