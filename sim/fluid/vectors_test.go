package fluid

import (
	"math"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// job returns a job of weight 1 with an exact estimate.
func job(id string, arrival, size float64) Job {
	return Job{ID: id, ArrivalS: arrival, SizeS: size, EstimateS: size, Weight: 1}
}

func (j Job) estimated(s float64) Job { j.EstimateS = s; return j }
func (j Job) weighted(w float64) Job  { j.Weight = w; return j }

func sojournsOf(t testing.TB, discipline string, jobs []Job) []float64 {
	t.Helper()
	s, err := Sojourns(discipline, jobs)
	must.Do(t, err)
	return s
}

// near tolerates the last two digits of a float64, and some ticks.
func near(got, want float64) bool { return math.Abs(got-want) <= max(1e-15*math.Abs(want), 1e-22) }

func checkNear(t testing.TB, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d sojourn times, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !near(got[i], want[i]) {
			t.Errorf("%s: job %d has a sojourn time of %v s, want %v s", what, i, got[i], want[i])
		}
	}
}

type expectations map[string][]float64

func (e expectations) check(t *testing.T, jobs []Job) {
	t.Helper()
	for discipline, want := range e {
		checkNear(t, discipline, sojournsOf(t, discipline, jobs), want)
	}
}

// TestFigure1OfHFSP checks the paper's example of FSP against PS.
func TestFigure1OfHFSP(t *testing.T) {
	expectations{
		"ps":   {50, 27.5, 27.5},
		"fsp":  {50, 10, 15},
		"psbs": {50, 10, 15},
		"srpt": {50, 10, 15},
		"fifo": {30, 30, 35},
		"las":  {50, 20, 15},
	}.check(t, []Job{job("j1", 0, 30), job("j2", 10, 10), job("j3", 15, 10)})
}

// TestLateLargeJob serves a job of 100 s with an estimate of 1 s. Under fsp and psbs the job
// is late from 1 s on.
func TestLateLargeJob(t *testing.T) {
	jobs := []Job{job("giant", 0, 100).estimated(1), job("b", 10, 5), job("c", 20, 5)}
	expectations{
		"fifo": {100, 95, 90},
		"srpt": {100, 95, 90}, // -9 of the large job's estimate remains when b arrives
		"fsp":  {100, 95, 90},
		// b is late from 15 s, and shares with the large job until it completes at 25 s: it
		// lacks 5 s. The same holds for c.
		"psbs": {110, 15, 15},
	}.check(t, jobs)
}

// TestLateJobsServedInOrderOfLateness checks that fsp serves late jobs in the order in which
// they became late, and psbs by weight.
func TestLateJobsServedInOrderOfLateness(t *testing.T) {
	jobs := []Job{
		job("a", 0, 10).estimated(2), // late at 3 s, 8 s remain
		job("b", 0, 10).estimated(1).weighted(0.5),
	}
	// In the virtual server the lag runs at 1/1.5: both complete at a lag of 2, at 3 s, a
	// first by its id. a has received 3 s of service by then.
	expectations{
		"fsp": {10, 20},
		// 7 s of a remain, with two thirds of the server: it completes at 13.5. Then 10 -
		// 3.5 of b remain.
		"psbs": {13.5, 20},
	}.check(t, jobs)
}

// TestOverestimatedJobsStayInVirtualServer checks that such jobs slow down the others there.
func TestOverestimatedJobsStayInVirtualServer(t *testing.T) {
	expectations{
		// In the virtual server a lasts to a lag of 10; b arrives at 2 s and a lag of 2, c
		// at 4 s and a lag of 3. Their lags are 9 for b and 10.5 for c.
		"fsp":  {1, 7, 12.5},
		"psbs": {1, 7, 12.5},
		"srpt": {1, 7, 12.5},
	}.check(t, []Job{job("a", 0, 1).estimated(10), job("b", 2, 7), job("c", 4, 7.5)})
}

func TestWeights(t *testing.T) {
	jobs := []Job{job("a", 0, 6).weighted(2), job("b", 0, 6), job("c", 4.5, 3).weighted(3)}
	expectations{
		// 3 s of a and 4.5 s of b remain when c arrives, which then has half the server. At
		// 10.5 s 1 s of a and 3.5 s of b remain and c completes; a at 12, b at 15.
		"ps":   {12, 15, 6},
		"fsp":  {9, 15, 3}, // a completes virtually at a lag of 3, c at 2.5
		"fifo": {6, 12, 10.5},
	}.check(t, jobs)
}

func TestTiesGoToFirstArrivalThenSmallerID(t *testing.T) {
	jobs := []Job{job("job9", 0, 1), job("job10", 0, 1), job("job8", 0, 1), job("a", 0.5, 0.5)}
	expectations{
		"fifo": {3, 1, 2, 3},
		// 0.5 s of job10 remain when a arrives, and job10 came first.
		"srpt": {3.5, 1, 2.5, 1},
		// a arrives at a lag of 1/6 and completes virtually at 2/3, the others at 1.
		"fsp":  {3.5, 1.5, 2.5, 0.5},
		"psbs": {3.5, 1.5, 2.5, 0.5},
		"ps":   {3.5, 3.5, 3.5, 2},
		"las":  {3.5, 3.5, 3.5, 1.5},
	}.check(t, jobs)
}

// TestExactTies checks ties that float64 would decide by rounding.
func TestExactTies(t *testing.T) {
	expectations{"srpt": {0.3, 0.4}}.check(t, []Job{job("z", 0.1, 0.3), job("a", 0.2, 0.2)})
	// Three jobs make lags of thirds. y arrives at 1/3 and x at 7/3, so both complete
	// virtually at 16/3.
	expectations{"fsp": {2, 4, 6, 10, 6}, "psbs": {2, 4, 6, 10, 6}}.check(t, []Job{
		job("1", 0, 2), job("2", 0, 2), job("3", 0, 2), job("y", 1, 5), job("x", 8, 3),
	})
}

func TestZeroSizeJobWaitsItsTurn(t *testing.T) {
	jobs := []Job{job("a", 0, 4), job("b", 1, 0), job("c", 1, 0), job("d", 9, 0)}
	expectations{
		"fifo": {4, 3, 3, 0},
		"ps":   {4, 0, 0, 0},
		"srpt": {4, 0, 0, 0},
		"fsp":  {4, 0, 0, 0},
		"psbs": {4, 0, 0, 0},
		"las":  {4, 0, 0, 0},
	}.check(t, jobs)
}

// TestCompletionAtArrival checks that a completion does not wait for a simultaneous arrival,
// although nine ninths of a second need not add up to 1 s.
func TestCompletionAtArrival(t *testing.T) {
	var jobs []Job
	for _, id := range []string{"a", "b", "c", "d"} {
		jobs = append(jobs, job(id, 1, 1))
	}
	for _, id := range []string{"e", "f", "g", "h", "i"} {
		jobs = append(jobs, job(id, 3.3, 1))
	}
	jobs = append(jobs, job("z", 10, 1))
	expectations{
		"las": {9, 9, 9, 9, 6.7, 6.7, 6.7, 6.7, 6.7, 1},
	}.check(t, jobs)
}
