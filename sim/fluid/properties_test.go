package fluid

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// workloads generates small workloads with many ties, of times as well as of service.
func workloads() *rapid.Generator[[]Job] {
	whole := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 9).Draw(t, "whole")) })
	tenths := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 99).Draw(t, "tenths")) / 10 })
	any := rapid.Float64Range(1e-15, 10) // far above a tick
	times := rapid.OneOf(whole, whole, tenths, any)
	return rapid.Custom(func(t *rapid.T) []Job {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c0-9]{1,3}`), 1, 14, rapid.ID).Draw(t, "ids")
		var jobs []Job
		now := 0.0
		for _, id := range ids {
			now = max(now, rapid.OneOf(rapid.Just(now), times.Filter(func(x float64) bool { return x >= 0 })).Draw(t, "arrival"))
			j := job(id, now, times.Draw(t, "size"))
			if rapid.Bool().Draw(t, "wrong") {
				j.EstimateS = times.Draw(t, "estimate")
			}
			j.Weight = rapid.SampledFrom([]float64{1, 1, 1, 2, 3, 0.5, 0.1}).Draw(t, "weight")
			jobs = append(jobs, j)
		}
		return jobs
	})
}

func sojournsIn(t *rapid.T, discipline string, jobs []Job) []float64 {
	s, err := Sojourns(discipline, jobs)
	must.Do(t, err)
	return s
}

// exactEstimates sets estimates to sizes.
func exactEstimates(jobs []Job) []Job {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].EstimateS = jobs[i].SizeS
	}
	return jobs
}

// equalWeights gives jobs the same weight.
func equalWeights(jobs []Job) []Job {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].Weight = 1
	}
	return jobs
}

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}

// busySeconds returns the time with any job in the server, by sojourn times.
func busySeconds(jobs []Job, sojourns []float64) (busy float64) {
	until := 0.0
	for i, j := range jobs { // by arrival
		done := j.ArrivalS + sojourns[i]
		busy += max(0, done-max(until, j.ArrivalS))
		until = max(until, done)
	}
	return busy
}

// TestWorkIsConserved checks that the server is busy exactly as long as it has work, and
// that all work is done.
func TestWorkIsConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := workloads().Draw(t, "jobs")
		var work float64
		for _, j := range jobs {
			work += j.SizeS
		}
		for _, d := range Disciplines() {
			if busy := busySeconds(jobs, sojournsIn(t, d, jobs)); math.Abs(busy-work) > 1e-12*max(work, 1) {
				t.Errorf("%s: a job is there for %v s, of %v s of work", d, busy, work)
			}
		}
	})
}

// checkNoneLater requires that no sojourn time exceeds its bound by more than the rounding
// of a float64.
func checkNoneLater(t *rapid.T, what string, got, bound []float64) {
	for i := range got {
		if got[i] > bound[i]*(1+1e-15)+1e-22 {
			t.Errorf("%s: job %d has a sojourn time of %v s, want %v s at most", what, i, got[i], bound[i])
		}
	}
}

// TestExactEstimates checks that fsp and psbs are equal, that no job completes later than
// under ps with any weights, and that srpt has the smallest sum.
func TestExactEstimates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := exactEstimates(workloads().Draw(t, "jobs"))
		fsp, ps := sojournsIn(t, "fsp", jobs), sojournsIn(t, "ps", jobs)
		checkNoneLater(t, "fsp against ps", fsp, ps)
		checkSame(t, "psbs against fsp", sojournsIn(t, "psbs", jobs), fsp)
		least := sum(sojournsIn(t, "srpt", jobs))
		for _, d := range Disciplines() {
			if s := sum(sojournsIn(t, d, jobs)); s < least*(1-1e-12) {
				t.Errorf("%s: sojourn times of %v s together, below srpt's %v s", d, s, least)
			}
		}
	})
}

func checkSame(t *rapid.T, what string, got, want []float64) {
	for i := range got {
		if !near(got[i], want[i]) {
			t.Errorf("%s: job %d has a sojourn time of %v s, want %v s", what, i, got[i], want[i])
		}
	}
}

// TestSimultaneousArrivals checks that las equals ps and that fsp equals srpt, shortest job
// first. The sums follow from the sizes alone: of jobs a ≤ b ≤ … the i-th of n counts n-i
// times under srpt and 2(n-i)-1 times under ps.
func TestSimultaneousArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := equalWeights(exactEstimates(workloads().Draw(t, "jobs")))
		sizes := make([]float64, len(jobs))
		for i := range jobs {
			jobs[i].ArrivalS, sizes[i] = 7, jobs[i].SizeS
		}
		slices.Sort(sizes)
		var shortestFirst, sharing float64
		for i, s := range sizes {
			others := float64(len(sizes) - i)
			shortestFirst += others * s
			sharing += (2*others - 1) * s
		}
		ps, srpt := sojournsIn(t, "ps", jobs), sojournsIn(t, "srpt", jobs)
		checkSame(t, "las against ps", sojournsIn(t, "las", jobs), ps)
		checkSame(t, "fsp against srpt", sojournsIn(t, "fsp", jobs), srpt)
		if s := sum(srpt); math.Abs(s-shortestFirst) > 1e-12*shortestFirst {
			t.Errorf("srpt: %v s together, want %v s", s, shortestFirst)
		}
		if s := sum(ps); math.Abs(s-sharing) > 1e-12*sharing {
			t.Errorf("ps: %v s together, want %v s", s, sharing)
		}
	})
}

// TestExtraJobHelpsNoOther checks that an extra job makes no other job complete earlier,
// under the disciplines with this property.
func TestExtraJobHelpsNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := workloads().Draw(t, "jobs")
		out := rapid.IntRange(0, len(jobs)-1).Draw(t, "out")
		fewer := slices.Delete(slices.Clone(jobs), out, out+1)
		for _, d := range []string{"fifo", "ps"} {
			more := slices.Delete(sojournsIn(t, d, jobs), out, out+1)
			checkNoneLater(t, d+" with a job less", sojournsIn(t, d, fewer), more)
		}
	})
}

// TestUnitsAndOrderDoNotMatter checks that doubled times double the results, and that the
// list order of simultaneous jobs has no effect.
func TestUnitsAndOrderDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := workloads().Draw(t, "jobs")
		halves := slices.Clone(jobs)
		for i := range halves {
			halves[i].ArrivalS *= 2
			halves[i].SizeS *= 2
			halves[i].EstimateS *= 2
		}
		mixed := rapid.Permutation(jobs).Draw(t, "mixed")
		slices.SortStableFunc(mixed, func(a, b Job) int { return cmp.Compare(a.ArrivalS, b.ArrivalS) })
		for _, d := range Disciplines() {
			want := sojournsIn(t, d, jobs)
			for i, s := range sojournsIn(t, d, halves) {
				if math.Abs(s-2*want[i]) > 1e-12 { // the double of a long decimal is rounded
					t.Errorf("%s: job %d takes %v s, and %v half seconds", d, i, want[i], s)
				}
			}
			for i, s := range sojournsIn(t, d, mixed) {
				place := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == mixed[i].ID })
				if s != want[place] {
					t.Errorf("%s: job %s takes %v s in another order, not %v s", d, mixed[i].ID, s, want[place])
				}
			}
		}
	})
}

// TestExtremes checks that jobs with extreme valid values complete and take at least their
// own size.
func TestExtremes(t *testing.T) {
	values := []float64{0, math.SmallestNonzeroFloat64, 1e-300, 1e-24, 1e-9, 1, 1e9, maxSeconds}
	weights := []float64{minWeight, 0.3, 1, maxWeight}
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var jobs []Job
		now := 0.0
		for i := range 12 {
			now = max(now, values[r.IntN(len(values))]*r.Float64())
			j := job(fmt.Sprint(i), now, values[r.IntN(len(values))])
			j.EstimateS, j.Weight = values[r.IntN(len(values))], weights[r.IntN(len(weights))]
			jobs = append(jobs, j)
		}
		for _, d := range Disciplines() {
			for i, s := range sojournsOf(t, d, jobs) {
				if !(s >= jobs[i].SizeS*(1-1e-15)-1e-22) || s > 1e21 {
					t.Errorf("%s: job %d of %v has a sojourn time of %v s", d, i, jobs, s)
				}
			}
		}
	}
}

// TestSmallJobAfterLongBacklog keeps all digits, where a float64 clock of a day has five for
// a microsecond.
func TestSmallJobAfterLongBacklog(t *testing.T) {
	jobs := []Job{job("big", 0.1, 1e5), job("small", 86400.7, 1.2345678901234e-6)}
	expectations{
		"srpt": {1e5 + 1.2345678901234e-6, 1.2345678901234e-6},
		"fsp":  {1e5 + 1.2345678901234e-6, 1.2345678901234e-6},
		"ps":   {1e5 + 1.2345678901234e-6, 2.4691357802468e-6},
		"las":  {1e5 + 1.2345678901234e-6, 1.2345678901234e-6},
	}.check(t, jobs)
}

func TestInvalidJobs(t *testing.T) {
	for _, c := range []struct {
		jobs []Job
		want string
	}{
		{[]Job{job("", 0, 1)}, "place 1: jobid is empty; expected a name"},
		{[]Job{job("a", math.NaN(), 1)}, `place 1: job "a": arrival_s is NaN; expected seconds from 0 to 1e+18`},
		{[]Job{job("a", 0, -1)}, `place 1: job "a": size_s is -1; expected seconds from 0 to 1e+18`},
		{[]Job{job("a", 0, math.Inf(1)).estimated(1)}, `place 1: job "a": size_s is +Inf; expected seconds from 0 to 1e+18`},
		{[]Job{job("a", 0, 1).estimated(-2)}, `place 1: job "a": estimate_s is -2; expected seconds from 0 to 1e+18`},
		{[]Job{job("a", 0, 1).weighted(0)}, `place 1: job "a": weight is 0; expected a number from 1e-09 to 1e+09`},
		{[]Job{job("a", 0, 1), job("b", 1, 1), job("a", 2, 1)}, `place 3: job "a" is repeated, first at place 1; expected one job for each jobid`},
		{[]Job{job("a", 3, 1), job("b", 2, 1)},
			`place 2: job "b" arrives at 2 s, before job "a" of place 1, which arrives at 3 s; expected jobs sorted by arrival_s`},
	} {
		if _, err := Sojourns("ps", c.jobs); err == nil || err.Error() != c.want {
			t.Errorf("%v: error %v, want %s", c.jobs, err, c.want)
		}
	}
	const unknown = `unknown discipline "PS"; known are fifo, ps, srpt, fsp, psbs, las`
	if _, err := Sojourns("PS", nil); err == nil || err.Error() != unknown {
		t.Errorf("error %v, want %s", err, unknown)
	}
	if s, err := Sojourns("las", nil); err != nil || len(s) != 0 {
		t.Errorf("no jobs: %v, %v", s, err)
	}
}
