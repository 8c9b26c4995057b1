package paper

import (
	"cmp"
	"fmt"
	"math"
	"strings"

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

// spreadText returns the median, and the interval if there is more than one value. An interval
// whose ends look the same is left out.
func spreadText(s results.Spread, unit string) string {
	switch {
	case s.N == 0:
		return "–"
	case number(s.Low) == number(s.High):
		return quantity(s.Median, unit)
	}
	return fmt.Sprintf("%s (%s to %s)", quantity(s.Median, unit), number(s.Low), number(s.High))
}

// quantity returns a number with its unit.
func quantity(x float64, unit string) string { return strings.TrimSpace(number(x) + " " + unit) }

// number formats a number with three significant digits, all digits before the point, and
// at most two after it. Papers give two or three digits; more would suggest a precision
// that simulations of fitted times do not have.
func number(x float64) string {
	size := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return "–"
	case size >= 100:
		return fmt.Sprintf("%.0f", x)
	case size >= 10:
		return trim(fmt.Sprintf("%.1f", x))
	case size < 0.005:
		return "0"
	}
	return trim(fmt.Sprintf("%.2f", x))
}

// trim removes zeros after the point. text has a point.
func trim(text string) string { return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") }
