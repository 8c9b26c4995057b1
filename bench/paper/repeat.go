package paper

import "fmt"

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
	for _, a := range e.Arms {
		for _, p := range e.points() {
			if a.Once {
				e.shareOutcome(list, a.Name, p.Name)
			}
		}
	}
	return list
}

// shareOutcome copies the outcome of an arm's first point to another point. Measures of
// other points find the arm there as well.
func (e *Experiment) shareOutcome(list []Repeat, arm, point string) {
	for _, r := range list {
		r.outcomes[armAndPoint{arm, point}] = r.outcomes[armAndPoint{arm, e.points()[0].Name}]
	}
}
