package fleet

import (
	"fmt"
	"io"
	"time"

	"github.com/hammr/hammr/internal/jsonfile"
	"github.com/hammr/hammr/sim/tables"
)

// Result is the outcome of one scenario.
type Result struct {
	Scenario   string    `json:"scenario"`
	Machines   int       `json:"machines"`
	Load       string    `json:"load"` // of 1, 5 and 15 minutes before the run
	Seconds    float64   `json:"seconds"`
	Measures   []Measure `json:"measures"`
	Violations []string  `json:"violations"` // what must not have happened; empty for a good run
}

// Measure is a measured value and its goal.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Goal  string  `json:"goal,omitempty"` // "" for none
	Met   bool    `json:"met"`            // true without a goal
}

// add adds a measure without a goal.
func (r *Result) add(name string, value float64, unit string) {
	r.Measures = append(r.Measures, Measure{Name: name, Value: value, Unit: unit, Met: true})
}

// atMost adds a measure whose goal is an upper bound.
func (r *Result) atMost(name string, value float64, unit string, bound float64) {
	r.Measures = append(r.Measures, Measure{name, value, unit, fmt.Sprintf("≤ %g", bound), value <= bound})
}

// atLeast adds a measure whose goal is a lower bound.
func (r *Result) atLeast(name string, value float64, unit string, bound float64) {
	r.Measures = append(r.Measures, Measure{name, value, unit, fmt.Sprintf("≥ %g", bound), value >= bound})
}

// violated records what must not have happened.
func (r *Result) violated(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// Good reports whether nothing was lost. With strict, every goal must be met too.
func (r *Result) Good(strict bool) bool {
	good := len(r.Violations) == 0
	for _, m := range r.Measures {
		good = good && (m.Met || !strict)
	}
	return good
}

// Print writes the result as a Markdown table.
func (r *Result) Print(w io.Writer) {
	fmt.Fprintf(w, "\n**%s**: %d machines, %.0f s, load before: %s\n\n", r.Scenario, r.Machines, r.Seconds, r.Load)
	t := tables.New("measure", "value|%s", "goal|%s", "met")
	for _, m := range r.Measures {
		met := ""
		if m.Goal != "" {
			met = map[bool]string{true: "yes", false: "no"}[m.Met]
		}
		t.Add(m.Name, fmt.Sprintf("%.4g %s", m.Value, m.Unit), m.Goal, met)
	}
	_ = t.Markdown(w) // an error of the terminal has no other place to go
	for _, v := range r.Violations {
		fmt.Fprintf(w, "\nVIOLATION: %s\n", v)
	}
}

// WriteJSON writes results into a file.
func WriteJSON(file string, results []*Result) error { return jsonfile.Write(file, results, 0o666) }

// millis and mebibytes convert to the units of tables.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
func mebibytes(n int64) float64      { return float64(n) / (1 << 20) }
