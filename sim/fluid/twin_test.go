package fluid

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// twin is the server by definition: before each step it considers all jobs and gives each a
// rate. It has no lag, no heap and no groups.
type twin struct {
	discipline string
	want       demands

	here  []int // jobs that have arrived and are not complete, really or virtually
	state []twinJob
	late  []int // in the order in which they became late
}

type twinJob struct {
	left, got    number
	done         bool
	believed     number // remaining estimate
	doneBelieved bool
}

// twinSojourns returns the twin of Sojourns.
func twinSojourns(discipline string, jobs []Job) []float64 {
	order := arrivalOrder(jobs)
	arrivals := arrivalsOf(jobs, order)
	w := &twin{discipline: discipline, want: demandsOf(jobs, order), state: make([]twinJob, len(jobs))}
	sojourns := make([]float64, len(jobs))
	now := zero
	for next := 0; next < len(jobs) || len(w.here) > 0; {
		rates, believed := w.rates(), w.virtualRates()
		dt, busy := w.shortest(rates, believed)
		arrives := next < len(jobs) && (!busy || now.until(arrivals[next]).clearlyLess(dt))
		if arrives {
			dt = now.until(arrivals[next])
		}
		now = now.plus(dt)
		for _, job := range w.step(dt, rates, believed) {
			sojourns[order[job]] = arrivals[job].until(now).float()
		}
		if arrives {
			w.arrive(next)
			next++
		}
	}
	return sojourns
}

func (w *twin) arrive(job int) {
	w.state[job] = twinJob{left: w.want.size[job], got: zero, believed: w.want.estimate[job]}
	w.state[job].doneBelieved = w.discipline != "fsp" && w.discipline != "psbs"
	w.here = append(w.here, job)
}

// rates returns the fraction of the server that each job gets.
func (w *twin) rates() []number {
	rates := make([]number, len(w.here))
	for i := range rates {
		rates[i] = zero
	}
	for _, served := range w.served() {
		rates[slices.Index(w.here, served)] = decimal(1)
	}
	if w.discipline == "ps" || w.discipline == "psbs" && len(w.late) > 0 {
		for i, job := range w.here {
			rates[i] = rates[i].times(w.want.weight[job])
		}
	}
	return shares(rates)
}

// shares normalizes the sum to 1.
func shares(rates []number) []number {
	total := zero
	for _, r := range rates {
		total = total.plus(r)
	}
	for i, r := range rates {
		if zero.less(total) {
			rates[i] = r.over(total)
		}
	}
	return rates
}

// served lists the jobs that get service.
func (w *twin) served() []int {
	waiting := slices.DeleteFunc(slices.Clone(w.here), func(job int) bool { return w.state[job].done })
	if len(waiting) == 0 {
		return nil
	}
	switch w.discipline {
	case "fifo":
		return waiting[:1]
	case "srpt":
		return w.least(waiting, func(job int) number { return w.want.estimate[job].minus(w.state[job].got) })[:1]
	case "las":
		return w.least(waiting, func(job int) number { return w.state[job].got })
	case "ps":
		return waiting
	}
	switch {
	case len(w.late) == 0:
		return w.least(waiting, func(job int) number { return w.state[job].believed.over(w.want.weight[job]) })[:1]
	case w.discipline == "fsp":
		return w.late[:1]
	}
	return w.late
}

// least lists the jobs for which f is least, in order.
func (w *twin) least(jobs []int, f func(job int) number) []int {
	var least []int
	var value number
	for _, job := range jobs {
		v := f(job)
		switch {
		case len(least) > 0 && v.minus(value).tick().Sign() == 0:
			least = append(least, job)
		case len(least) == 0 || v.less(value):
			least, value = []int{job}, v
		}
	}
	return least
}

func (w *twin) virtualRates() []number {
	rates := make([]number, len(w.here))
	for i, job := range w.here {
		rates[i] = zero
		if !w.state[job].doneBelieved {
			rates[i] = w.want.weight[job]
		}
	}
	return shares(rates)
}

// shortest returns the time until the first job completes, really or virtually, or has
// received as much service as another.
func (w *twin) shortest(rates, believed []number) (dt number, any bool) {
	shorten := func(work, rate number) {
		if !zero.less(rate) || work.less(zero) {
			return
		}
		if t := work.over(rate); !any || t.less(dt) {
			dt, any = t, true
		}
	}
	for i, job := range w.here {
		shorten(w.state[job].left, rates[i])
		shorten(w.state[job].believed, believed[i])
		if w.discipline != "las" || !zero.less(rates[i]) {
			continue
		}
		for k, other := range w.here {
			if difference := w.state[other].got.minus(w.state[job].got); !zero.less(rates[k]) && difference.tick().Sign() > 0 {
				shorten(difference, rates[i])
			}
		}
	}
	return dt, any
}

// step returns the jobs that complete at its end.
func (w *twin) step(dt number, rates, believed []number) (done []int) {
	for i, job := range w.here {
		s := &w.state[job]
		s.left, s.got = s.left.minus(dt.times(rates[i])), s.got.plus(dt.times(rates[i]))
		s.believed = s.believed.minus(dt.times(believed[i]))
		if zero.less(rates[i]) && s.left.tick().Sign() <= 0 {
			s.done = true
			done = append(done, job)
		}
	}
	w.late = slices.DeleteFunc(w.late, func(job int) bool { return w.state[job].done })
	for i, job := range w.here {
		s := &w.state[job]
		if zero.less(believed[i]) && s.believed.tick().Sign() <= 0 {
			s.doneBelieved = true
			if !s.done {
				w.late = append(w.late, job)
			}
		}
	}
	w.here = slices.DeleteFunc(w.here, func(job int) bool { return w.state[job].done && w.state[job].doneBelieved })
	return done
}

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

func TestDisciplinesMatchTwin(t *testing.T) {
	for _, d := range Disciplines() {
		t.Run(d, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				jobs := workloads().Draw(t, "jobs")
				got, want := sojournsIn(t, d, jobs), twinSojourns(d, jobs)
				for i := range got {
					if !near(got[i], want[i]) {
						t.Errorf("job %q has a sojourn time of %v s, want %v s", jobs[i].ID, got[i], want[i])
					}
				}
			})
		})
	}
}

func sojournsIn(t *rapid.T, discipline string, jobs []Job) []float64 {
	s, err := Sojourns(discipline, jobs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
