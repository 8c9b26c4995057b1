package fluid

import (
	"math"
	"testing"
)

// job has the weight 1 and a right estimate.
func job(id string, arrival, size float64) Job {
	return Job{ID: id, ArrivalS: arrival, SizeS: size, EstimateS: size, Weight: 1}
}

func (j Job) estimated(s float64) Job { j.EstimateS = s; return j }
func (j Job) weighted(w float64) Job  { j.Weight = w; return j }

func sojournsOf(t testing.TB, discipline string, jobs []Job) []float64 {
	t.Helper()
	s, err := Sojourns(discipline, jobs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// near allows for the last two digits of a float64, and for some ticks.
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

// TestFigure1OfHFSP is the example by which the paper tells FSP from PS.
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

// TestLateLargeJob has a job of 100 s that was held for one of 1 s. It is late
// from the moment at which it would be done, 1 s under fsp and psbs.
func TestLateLargeJob(t *testing.T) {
	jobs := []Job{job("giant", 0, 100).estimated(1), job("b", 10, 5), job("c", 20, 5)}
	expectations{
		"fifo": {100, 95, 90},
		"srpt": {100, 95, 90}, // -9 is left of the giant when b comes
		"fsp":  {100, 95, 90},
		// b is late from 15 s, and shares with the giant until it is done at 25 s:
		// what it lacks is 5 s, all of it. The same of c.
		"psbs": {110, 15, 15},
	}.check(t, jobs)
}

// TestLateJobsServedInOrderOfLateness under fsp, by weight
// under psbs.
func TestLateJobsServedInOrderOfLateness(t *testing.T) {
	jobs := []Job{
		job("a", 0, 10).estimated(2), // late at 3, with 8 left
		job("b", 0, 10).estimated(1).weighted(0.5),
	}
	// In belief the lag runs at 1/1.5: both are done at a lag of 2, at 3 s, a
	// first by its id. a has got 3 s of service by then.
	expectations{
		"fsp": {10, 20},
		// a has 7 left and two thirds of the server: done at 13.5. b then has 10 - 3.5 left.
		"psbs": {13.5, 20},
	}.check(t, jobs)
}

// TestOverestimatedJobsStayInVirtualServer, where they slow the others down.
func TestOverestimatedJobsStayInVirtualServer(t *testing.T) {
	expectations{
		// In belief a lasts to a lag of 10; b comes at 2 s and a lag of 2, c at 4 s
		// and a lag of 3. Lags of 9 for b and 10.5 for c.
		"fsp":  {1, 7, 12.5},
		"psbs": {1, 7, 12.5},
		"srpt": {1, 7, 12.5},
	}.check(t, []Job{job("a", 0, 1).estimated(10), job("b", 2, 7), job("c", 4, 7.5)})
}

func TestWeights(t *testing.T) {
	jobs := []Job{job("a", 0, 6).weighted(2), job("b", 0, 6), job("c", 4.5, 3).weighted(3)}
	expectations{
		// a has 3 left and b 4.5 when c comes, which then has half the server.
		// At 10.5 s a has 1 left, b 3.5 and c is done; a at 12, b at 15.
		"ps":   {12, 15, 6},
		"fsp":  {9, 15, 3}, // a is believed to be done at a lag of 3, c of 2.5
		"fifo": {6, 12, 10.5},
	}.check(t, jobs)
}

func TestTiesGoToFirstArrivalThenSmallerID(t *testing.T) {
	jobs := []Job{job("job9", 0, 1), job("job10", 0, 1), job("job8", 0, 1), job("a", 0.5, 0.5)}
	expectations{
		"fifo": {3, 1, 2, 3},
		// job10 has 0.5 left when a comes, and came first.
		"srpt": {3.5, 1, 2.5, 1},
		// a comes at a lag of 1/6 and is believed to be done at 2/3, the others at 1.
		"fsp":  {3.5, 1.5, 2.5, 0.5},
		"psbs": {3.5, 1.5, 2.5, 0.5},
		"ps":   {3.5, 3.5, 3.5, 2},
		"las":  {3.5, 3.5, 3.5, 1.5},
	}.check(t, jobs)
}

// TestExactTies are ties that float64 would decide by its rounding.
func TestExactTies(t *testing.T) {
	expectations{"srpt": {0.3, 0.4}}.check(t, []Job{job("z", 0.1, 0.3), job("a", 0.2, 0.2)})
	// Three jobs make lags of thirds. y comes at 1/3 and x at 7/3, so both are
	// believed to be done at 16/3.
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

// TestCompletionAtArrival does not wait for it, though nine ninths
// of a second need not add up to 1 s.
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
