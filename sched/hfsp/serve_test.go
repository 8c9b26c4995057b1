package hfsp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched/share"
	"github.com/hammr/hammr/sim/fluid"
)

// task is a phase on a real cluster with infinitely divisible slots.
type task struct {
	*member
	arrival
	left float64 // the real size
	end  float64
}

// serve returns the times at which phases finish under HFSP: late ones first, by weight,
// then the others in the order of the virtual cluster. Estimates are parallel to arrivals.
func serve(slots float64, arrivals []arrival, estimates []float64) []float64 {
	v := &virtual{slots: slots}
	tasks := make([]*task, len(arrivals))
	now, come := 0.0, 0
	for over := 0; over < len(arrivals); {
		v.computeDone()
		rates, step := rates(slots, now, tasks[:come])
		if come < len(arrivals) {
			step = min(step, arrivals[come].at-now)
		}
		for i, t := range tasks[:come] {
			if t.left -= rates[i] * step; rates[i] > 0 && t.left < 1e-9 {
				t.left, t.end, rates[i] = 0, now+step, 0
				over++
			}
		}
		now += step
		v.advance(now)
		for ; come < len(arrivals) && arrivals[come].at <= now; come++ {
			a := arrivals[come]
			tasks[come] = &task{&member{id: number(come), weight: a.weight, most: a.most}, a, a.size, 0}
			v.resize(tasks[come].member, estimates[come])
		}
	}
	var ends []float64
	for _, t := range tasks {
		ends = append(ends, t.end-t.at)
	}
	return ends
}

// rates returns the slots of each phase, and how long these stay the same.
func rates(slots, now float64, tasks []*task) (out []float64, step float64) {
	out, step = make([]float64, len(tasks)), math.Inf(1)
	var late, order []int
	claims := []share.Claim{}
	for i, t := range tasks {
		switch {
		case t.left == 0:
		case t.done <= now+1e-9:
			late = append(late, i)
			claims = append(claims, share.Claim{Weight: t.arrival.weight, Demand: t.arrival.most})
		default:
			order = append(order, i)
			step = min(step, t.done-now)
		}
	}
	for k, n := range share.Fill(slots, claims) {
		out[late[k]] = n
		slots -= n
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if tasks[a].done < tasks[b].done {
			return -1
		}
		return 1
	})
	for _, i := range order {
		out[i] = min(tasks[i].arrival.most, slots)
		slots -= out[i]
	}
	for i, n := range out {
		if n > 0 {
			step = min(step, tasks[i].left/n)
		}
	}
	return out, step
}

func sizes(arrivals []arrival) (out []float64) {
	for _, a := range arrivals {
		out = append(out, a.size)
	}
	return out
}

// TestSojournsOfTheFigures checks the paper's sojourn times of FSP.
func TestSojournsOfTheFigures(t *testing.T) {
	one := []arrival{{0, 1, 30, 1}, {10, 1, 10, 1}, {15, 1, 10, 1}}
	checkEnds(t, "figure 1", serve(1, one, sizes(one)), []float64{50, 10, 15})
	two := []arrival{{0, 100, 3000, 1}, {10, 55, 550, 1}, {13, 35, 350, 1}}
	checkEnds(t, "figure 2", serve(100, two, sizes(two)), []float64{39, 10, 10})
}

// TestServesAsPSBSDoes compares the order on one slot with the textbook's, with sizes that
// are under- and overestimated, and weights.
func TestServesAsPSBSDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	for round := range 200 {
		var arrivals []arrival
		var estimates []float64
		var jobs []fluid.Job
		at := 0.0
		for i := range 1 + random.IntN(15) {
			at += random.ExpFloat64() * 8
			a := arrival{at, 1, 1 + random.ExpFloat64()*10, math.Exp2(float64(random.IntN(5) - 2))}
			estimate := a.size
			if round%2 == 1 {
				estimate *= math.Exp(random.NormFloat64())
			}
			arrivals, estimates = append(arrivals, a), append(estimates, estimate)
			jobs = append(jobs, fluid.Job{ID: fmt.Sprintf("%03d", i), ArrivalS: at, SizeS: a.size, EstimateS: estimate, Weight: a.weight})
		}
		want, err := fluid.Sojourns("psbs", jobs)
		must.Do(t, err)
		for i, got := range serve(1, arrivals, estimates) {
			if math.Abs(got-want[i]) > 1e-6*max(want[i], 1) {
				t.Fatalf("round %d: sojourn %d is %v, under psbs %v", round, i, got, want[i])
			}
		}
	}
}

// TestNoJobEndsLaterThanUnderSharing checks FSP's guarantee for one server.
func TestNoJobEndsLaterThanUnderSharing(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 9))
	for range 200 {
		var arrivals []arrival
		at := 0.0
		for range 1 + random.IntN(15) {
			at += random.ExpFloat64() * 8
			arrivals = append(arrivals, arrival{at, 4, 1 + random.ExpFloat64()*40, 1})
		}
		shared := ends(4, arrivals...)
		for i, got := range serve(4, arrivals, sizes(arrivals)) {
			if got+arrivals[i].at > shared[i]+1e-6 {
				t.Fatalf("phase %d is done at %v, under sharing at %v", i, got+arrivals[i].at, shared[i])
			}
		}
	}
}
