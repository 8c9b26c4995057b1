package hfsp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/share"
)

func number(n int) phaseID { return phaseID{job: cluster.JobID{Cluster: "1", Number: n}} }

// arrival is a phase that enters a virtual cluster: times in s, sizes in slot-seconds.
type arrival struct {
	at, most, size, weight float64
}

// ends returns when the phases finish, in s, on a cluster with the given slots.
func ends(slots float64, arrivals ...arrival) []float64 {
	v := &virtual{slots: slots}
	shares := make([]*member, len(arrivals))
	for i, a := range arrivals {
		v.advance(a.at)
		shares[i] = &member{id: number(i), weight: a.weight, most: a.most}
		v.resize(shares[i], a.size)
	}
	v.computeDone()
	out := make([]float64, len(arrivals))
	for i, s := range shares {
		out[i] = s.done
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

func checkEnds(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !near(got[i], want[i]) {
			t.Errorf("%s: phase %d is done at %v, want %v", what, i+1, got[i], want[i])
		}
	}
}

// TestFigure1 checks the paper's example of one server: when jobs finish if all share. FSP
// then serves in this order, which gives 50, 10 and 15 s instead of 50, 27.5 and 27.5.
func TestFigure1(t *testing.T) {
	checkEnds(t, "figure 1", ends(1, arrival{0, 1, 30, 1}, arrival{10, 1, 10, 1}, arrival{15, 1, 10, 1}), []float64{50, 37.5, 42.5})
}

// TestFigure2 checks the paper's example of jobs that cannot use the whole cluster;
// fractions of it are slots of 100.
func TestFigure2(t *testing.T) {
	checkEnds(t, "figure 2", ends(100, arrival{0, 100, 3000, 1}, arrival{10, 55, 550, 1}, arrival{13, 35, 350, 1}), []float64{39, 24.5, 23.5})
}

func TestWeightsShareTheVirtualCluster(t *testing.T) {
	checkEnds(t, "weights 4 and 1", ends(10, arrival{0, 99, 80, 4}, arrival{0, 99, 80, 1}), []float64{10, 16})
}

// TestAgeSurvivesUpdates changes the estimated size of a phase when half of it is done.
func TestAgeSurvivesUpdates(t *testing.T) {
	for size, left := range map[float64]float64{100: 50, 70: 20, 400: 350, 50: 0, 1: 0} {
		v := &virtual{slots: 10}
		m := &member{id: number(1), weight: 1, most: 100}
		v.resize(m, 100)
		v.advance(5)
		v.resize(m, size)
		v.computeDone()
		if m.remaining() != left || !near(m.done, 5+left/10) {
			t.Errorf("a phase that has got 50 and is of %v now has %v left until %v", size, m.remaining(), m.done)
		}
	}
}

// TestDoneAndLargerAgain makes a finished phase larger: it continues where it was, and
// shares with the others again.
func TestDoneAndLargerAgain(t *testing.T) {
	v := &virtual{slots: 1}
	a, b := &member{id: number(1), weight: 1, most: 1}, &member{id: number(2), weight: 1, most: 1}
	v.resize(a, 10)
	v.resize(b, 30)
	v.advance(30) // a was done at 20, b has 10 left
	if a.done != 20 || a.remaining() != 0 || !near(b.remaining(), 10) || len(v.members) != 1 {
		t.Fatalf("a is done at %v, b has %v left", a.done, b.remaining())
	}
	v.resize(a, 15)
	v.computeDone()
	if !near(a.done, 40) || !near(b.done, 45) {
		t.Errorf("a is done at %v, b at %v", a.done, b.done)
	}
}

func TestSlotsChange(t *testing.T) {
	v := &virtual{slots: 10}
	m := &member{id: number(1), weight: 1, most: 100}
	v.resize(m, 100)
	v.setSlots(2, 0)
	v.computeDone()
	if !math.IsInf(m.done, 1) {
		t.Errorf("without slots it is done at %v", m.done)
	}
	v.setSlots(7, 40)
	v.computeDone()
	if !near(m.done, 9) || m.remaining() != 80 {
		t.Errorf("with slots again it is done at %v, %v being left", m.done, m.remaining())
	}
}

// twin is a virtual cluster that divides the slots again whenever a phase is done.
type twin struct {
	slots   float64
	members []*member
}

// advance advances the time, and returns the time at which each phase finishes.
func (w *twin) advance(from, to float64) map[phaseID]float64 {
	done := make(map[phaseID]float64)
	for {
		var claims []share.Claim
		for _, m := range w.members {
			claims = append(claims, share.Claim{Weight: m.weight, Demand: m.most})
		}
		step := to - from
		rates := share.Fill(w.slots, claims)
		for i, m := range w.members {
			if rates[i] > 0 {
				step = min(step, m.remaining()/rates[i])
			}
		}
		if math.IsInf(step, 1) {
			return done
		}
		from += step
		var left []*member
		for i, m := range w.members {
			m.aged += rates[i] * step
			if m.remaining() > 1e-7*m.size {
				left = append(left, m)
			} else {
				done[m.id] = from
			}
		}
		w.members = left
		if from >= to || len(left) == 0 {
			return done
		}
	}
}

// TestVirtualClusterEqualsTwin makes random phases enter, change and age.
func TestVirtualClusterEqualsTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for round := range 300 {
		v, w := &virtual{slots: float64(random.IntN(60))}, &twin{}
		w.slots = v.slots
		twins := make(map[phaseID]*member)
		now := 0.0
		for i := range 1 + random.IntN(12) {
			m := member{id: number(i), weight: math.Exp2(float64(random.IntN(5) - 2)), most: float64(1 + random.IntN(80))}
			a, b := m, m
			size := float64(1 + random.IntN(5000))
			b.size = size
			v.resize(&a, size)
			w.members = append(w.members, &b)
			twins[m.id] = &b
			step := float64(random.IntN(200))
			w.advance(now, now+step)
			now += step
			v.advance(now)
			if size := 2 * size * random.Float64(); size > b.aged && slices.Contains(w.members, &b) && random.IntN(3) == 0 {
				b.size = size
				v.resize(&a, size)
			}
		}
		for _, m := range v.members {
			if b := twins[m.id]; math.Abs(m.remaining()-b.remaining()) > 1e-6*m.size {
				t.Fatalf("round %d: %v of %v is left, by the twin %v", round, m.remaining(), m.id, b.remaining())
			}
		}
		v.computeDone()
		done := w.advance(now, math.Inf(1))
		for _, m := range v.members {
			if at, ok := done[m.id]; ok && math.Abs(at-m.done) > 1e-5*at || !ok && !math.IsInf(m.done, 1) && m.remaining() > 1e-6*m.size {
				t.Fatalf("round %d: %v is done at %v, by the twin at %v", round, m.id, m.done, at)
			}
		}
	}
}

// TestOthersGetUnusedShares shrinks a phase: no other phase is done
// later.
func TestOthersGetUnusedShares(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		var all []arrival
		for range 2 + random.IntN(8) {
			all = append(all, arrival{0, float64(1 + random.IntN(20)), float64(1 + random.IntN(100)), 1})
		}
		before := ends(20, all...)
		all[0].size /= 2
		for i, at := range ends(20, all...) {
			if at > before[i]+1e-9 {
				t.Fatalf("phase %d is done at %v, and before at %v: %v", i, at, before[i], all)
			}
		}
	}
}

// TestAPhaseWithLessWorkThanThePrecisionIsDone advances the clock until the work that is left is too small to be
// represented. The phase leaves the virtual cluster, and so it is done then, not never.
func TestAPhaseWithLessWorkThanThePrecisionIsDone(t *testing.T) {
	const size = 1e9
	last := math.Nextafter(size, 0)
	v := &virtual{slots: 1}
	m := &member{id: number(1), weight: 1, most: 1, aged: last}
	v.resize(m, size)
	to := 0.75 * (size - last)
	if v.advance(to); len(v.members) != 0 || m.done != to {
		t.Errorf("%d phases are left, and the phase is done at %v, want %v", len(v.members), m.done, to)
	}
}
