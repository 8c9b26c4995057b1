package paper

import (
	"cmp"
	"fmt"
	"math"

	"github.com/hammr/hammr/sim/results"
)

// Finding is a Measure with its result. Ours is the median over the repetitions with its 95
// % interval, see results.Spread.
type Finding struct {
	Measure
	Ours   results.Spread
	Values []float64 // of each repetition
}

// findings applies the measures of an experiment. They are in the order of the measures.
func (e *Experiment) findings(all []Repeat) (list []Finding) {
	for _, m := range e.Measures {
		var values []float64
		for _, r := range all {
			values = append(values, m.Of(r))
		}
		list = append(list, Finding{Measure: m, Ours: results.SpreadOf(values), Values: values})
	}
	return list
}

// Ratio returns our number over the paper's; NaN if the paper has no number. The median of
// the repetitions is compared.
func (f *Finding) Ratio() float64 {
	if f.Paper == 0 {
		return math.NaN()
	}
	return f.Ours.Median / f.Paper
}

// differs reports whether ours differs from the paper's by more than needs no reason. A
// measure without a number of the paper always needs one. The default is a tenth of
// the paper's number, or two points of a percentage.
func (f *Finding) differs() bool {
	within, distance := cmp.Or(f.Within, 0.1), math.Abs(f.Ratio()-1)
	if f.Unit == "%" {
		within, distance = cmp.Or(f.Within, 2), math.Abs(f.Ours.Median-f.Paper)
	}
	return f.Paper == 0 || !(distance <= within)
}

// paper returns the paper's figure, for people. It returns a dash if the paper does not
// report the measure.
func (f *Finding) paper() string {
	switch {
	case f.Paper == 0 && f.Quote == "":
		return "–"
	case f.Paper == 0:
		return f.Quote
	case f.Quote == "":
		return quantity(f.Paper, f.Unit)
	}
	return quantity(f.Paper, f.Unit) + " (" + f.Quote + ")"
}

// verdict compares ours with the paper's number, for people: as a ratio, or for percentages
// as a difference. It is "" if there is nothing to compare.
func (f *Finding) verdict() string {
	switch {
	case f.Paper == 0 || f.Ours.N == 0:
		return ""
	case f.Unit == "%":
		return fmt.Sprintf("%+.1f points", f.Ours.Median-f.Paper)
	}
	return "x " + number(f.Ratio())
}
