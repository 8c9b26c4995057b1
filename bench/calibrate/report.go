package calibrate

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/hammr/hammr/bench/live"
)

// columns are the columns of calibration.csv; times are in seconds.
var columns = []string{"plan", "policy", "job", "real_s", "replay_s", "forecast_s", "replay_error", "forecast_error"}

// WriteCSV writes a line for each job and policy, with a heading.
func WriteCSV(w io.Writer, plan string, outcomes []Outcome) error {
	lines := [][]string{columns}
	for _, o := range outcomes {
		lines = append(lines, []string{
			plan, o.Policy, o.Job, seconds(o.Real), seconds(o.Replay), seconds(o.Forecast),
			strconv.FormatFloat(o.errorOf(o.Replay), 'f', 4, 64), strconv.FormatFloat(o.errorOf(o.Forecast), 'f', 4, 64),
		})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// errorOf returns the error of a prediction, as a part of the real time.
func (o Outcome) errorOf(predicted time.Duration) float64 {
	return float64(predicted-o.Real) / float64(max(o.Real, 1))
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// Error is the error of predictions, as parts of the real times. The replay error comes from
// the model alone. The forecast error adds the differences of task times between two runs.
type Error struct {
	Mean  float64 // of the absolute errors of all jobs
	Worst float64 // the largest absolute error of a job
	Bias  float64 // of the mean sojourn time; positive if the prediction is too long
}

// ErrorOf returns the error of one prediction over the jobs of a policy. It takes at least one
// outcome.
func ErrorOf(outcomes []Outcome, prediction func(Outcome) time.Duration) (e Error) {
	var observed, predicted time.Duration
	for _, o := range outcomes {
		off := math.Abs(o.errorOf(prediction(o)))
		e.Mean += off / float64(len(outcomes))
		e.Worst = max(e.Worst, off)
		observed, predicted = observed+o.Real, predicted+prediction(o)
	}
	e.Bias = float64(predicted-observed) / float64(max(observed, 1))
	return e
}

// ReplayOf returns the prediction from the run itself.
func ReplayOf(o Outcome) time.Duration { return o.Replay }

// ForecastOf returns the prediction from the run under the first policy.
func ForecastOf(o Outcome) time.Duration { return o.Forecast }

// WriteTable writes a line for each policy, for a terminal.
func WriteTable(w io.Writer, plan live.Plan, outcomes []Outcome) error {
	fmt.Fprintf(w, "%s: %s\n", plan.Name, plan.About)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "POLICY\tJOBS\tREAL MEAN\tREPLAY MEAN\tERROR\tWORST\tFORECAST MEAN\tERROR\tWORST\t")
	for _, policy := range policiesOf(outcomes) {
		of := slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool { return o.Policy != policy })
		replay, forecast := ErrorOf(of, ReplayOf), ErrorOf(of, ForecastOf)
		fmt.Fprintf(t, "%s\t%d\t%.2f s\t%.2f s\t%.1f %%\t%.1f %%\t%.2f s\t%.1f %%\t%.1f %%\t\n", policy, len(of),
			mean(of, func(o Outcome) time.Duration { return o.Real }),
			mean(of, ReplayOf), replay.Mean*100, replay.Worst*100,
			mean(of, ForecastOf), forecast.Mean*100, forecast.Worst*100)
	}
	return t.Flush()
}

// mean returns the mean of one time, in s.
func mean(outcomes []Outcome, of func(Outcome) time.Duration) (seconds float64) {
	for _, o := range outcomes {
		seconds += of(o).Seconds() / float64(len(outcomes))
	}
	return seconds
}

// policiesOf returns the policies in order of appearance.
func policiesOf(outcomes []Outcome) (names []string) {
	for _, o := range outcomes {
		if !slices.Contains(names, o.Policy) {
			names = append(names, o.Policy)
		}
	}
	return names
}
