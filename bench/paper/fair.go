package paper

import (
	"fmt"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
)

// Fair is the design document of Hadoop's fair scheduler. It is not a paper with an
// evaluation, so experiments check rules: fair shares, the two preemption time-outs, and
// delay scheduling.
var Fair = Paper{
	Name: "fair", Title: "The Hadoop Fair Scheduler (M. Zaharia, design document)", Runs: 10,
	Intro: `The document has rules and no measurements, so results are compared with the rules and with
the unit tests of the code. The times of tasks are given below. They have a lognormal spread
(sigma 0.2) where repetitions should differ.`,
	Plan: planFair,
}

// planFair returns the experiments. The options only shorten the last experiment.
func planFair(o Options) ([]Experiment, error) {
	return []Experiment{fairShares(), fairTimeouts(), fairDelay(o)}, nil
}

// poolSpec is a pool of an allocation file. It is also used by the experiments of other
// papers with pools.
type poolSpec struct {
	name     string
	demand   int // maps that it wants to run
	min      int
	weight   float64 // 0 is 1
	minAfter int     // s below its minimum before it takes slots; 0 for never
}

// allocations returns an allocation file with pools. allocations is the setting of fair with
// such a file, for tests of its own keys. fairAfter is fairSharePreemptionTimeout in s, 0
// for never.
func allocations(fairAfter int, pools ...poolSpec) map[string]string {
	var b strings.Builder
	b.WriteString("<allocations>\n")
	if fairAfter > 0 {
		fmt.Fprintf(&b, "  <fairSharePreemptionTimeout>%d</fairSharePreemptionTimeout>\n", fairAfter)
	}
	for _, p := range pools {
		fmt.Fprintf(&b, "  <pool name=%q><minMaps>%d</minMaps>", p.name, p.min)
		if p.weight != 0 {
			fmt.Fprintf(&b, "<weight>%g</weight>", p.weight)
		}
		if p.minAfter > 0 {
			fmt.Fprintf(&b, "<minSharePreemptionTimeout>%d</minSharePreemptionTimeout>", p.minAfter)
		}
		b.WriteString("</pool>\n")
	}
	b.WriteString("</allocations>\n")
	return map[string]string{registry.AllocationFile: "fair-scheduler.xml", registry.Allocations: b.String()}
}

// vector is one of the unit tests of fair shares. shares has the slots of each pool, in
// the order of pools.
type vector struct {
	slots  int
	pools  []poolSpec
	shares []int
}

// vectors are the cases of TestComputeFairShares whose shares are whole slots.
var vectors = []vector{
	{40, []poolSpec{{demand: 100}, {demand: 50}, {demand: 30}, {demand: 20}}, []int{10, 10, 10, 10}},
	{40, []poolSpec{{demand: 100}, {demand: 50}, {demand: 11}, {demand: 3}}, []int{13, 13, 11, 3}},
	{40, []poolSpec{{demand: 100, min: 20}, {demand: 10, min: 20}, {demand: 10}, {demand: 3, min: 2}}, []int{20, 10, 7, 3}},
	{45, []poolSpec{{demand: 100, weight: 2}, {demand: 50}, {demand: 30}, {demand: 20, weight: .5}}, []int{20, 10, 10, 5}},
	{45, []poolSpec{{demand: 10, weight: 2}, {demand: 11}, {demand: 30}, {demand: 20, weight: .5}}, []int{10, 11, 16, 8}},
	{45, []poolSpec{{demand: 10, min: 20, weight: 2}, {demand: 11}, {demand: 30, min: 5}, {demand: 20, min: 15, weight: .5}}, []int{10, 10, 10, 15}},
}

// point fills an empty cluster with a vector's pools, one job for each. The name of the
// point has the demands and the expected slots, so that the report shows them.
func (v vector) point() Point {
	var demands, shares []string
	m := jobMix{name: "vector"}
	pools := make([]poolSpec, len(v.pools))
	for i, p := range v.pools {
		p.name = fmt.Sprintf("pool%d", i)
		pools[i] = p
		m.jobs = append(m.jobs, jobSpec{id: p.name, pool: p.name, maps: taskBatch{n: p.demand, seconds: 60}})
		text := fmt.Sprint(p.demand)
		if p.min > 0 {
			text += fmt.Sprintf(" min %d", p.min)
		}
		if p.weight != 0 {
			text += fmt.Sprintf(" weight %g", p.weight)
		}
		demands, shares = append(demands, text), append(shares, fmt.Sprint(v.shares[i]))
	}
	name := fmt.Sprintf("%s on %d slots: %s", strings.Join(demands, ", "), v.slots, strings.Join(shares, ", "))
	return Point{Name: name, Set: func(t *Trial) {
		t.Workload, t.Conf = m.source(), allocations(0, pools...)
		t.Cluster.Machines, t.Cluster.MapSlots = v.slots, 1
	}}
}

// agree returns the number of pools with the expected share, half a minute after the start,
// when no task has finished. At 30 s all pools have had time to get their slots, and maps
// take 60 s.
func (v vector) agree(o *Outcome) float64 {
	same := 0
	for i, share := range v.shares {
		if slotsUsed(o, cluster.MapSlot, ofPool(fmt.Sprintf("pool%d", i))).at(30) == float64(share) {
			same++
		}
	}
	return float64(same)
}

// fairShares checks shares exactly: they do not depend on times or seeds, so one run is
// enough.
func fairShares() Experiment {
	e := Experiment{
		ID: "shares", Title: "Fair shares (section 3.6, and the unit tests of the code)",
		Setup: `Pools with one job each fill an empty cluster. The number of a job's maps is its pool's
demand, and no map finishes meanwhile. The numbers are demands, minimum shares and weights,
then the slots that each pool should have.`,
		Arms:    []Arm{{Name: "fair", Policy: "fair", Conf: asInHadoop("fair")}},
		Cluster: sim.Config{ReduceSlots: -1, Series: true}, Workload: jobMix{}.source(), Runs: 1,
	}
	for _, v := range vectors {
		p := v.point()
		e.Points = append(e.Points, p)
		e.Measures = append(e.Measures, Measure{
			Name: p.Name, Unit: "pools", Paper: float64(len(v.shares)),
			Of: func(r Repeat) float64 { return v.agree(r.At("fair", p.Name)) },
		})
	}
	return e
}

// The experiment on time-outs: the arrival of production in s, and its needs.
const (
	productionAt  = 100
	productionMin = 10
	fairSlots     = 40
)

// fairTimeouts runs a job that fills the cluster, and a second job that arrives later. Each
// point sets only one of the two time-outs, so that the effect of each can be measured.
//
//	0 s    research has all 40 slots, with maps of 600 s
//	100 s  production arrives: its minimum is 10, its fair share 20
//	+ t    the time-out has passed: production has 10 or 20 slots
//
// Without preemption production waits for the end of research's maps, at about 600 s.
func fairTimeouts() Experiment {
	m := jobMix{name: "production and research", sigma: 0.2, jobs: []jobSpec{
		{id: "research", pool: "research", maps: taskBatch{n: 400, seconds: 600}},
		{id: "production", pool: "production", at: productionAt, maps: taskBatch{n: 30, seconds: 60}},
	}}
	e := Experiment{
		ID: "timeouts", Title: "The two preemption time-outs (sections 2.3 and 3.5)",
		Setup: fmt.Sprintf(`Research fills 10 machines of 4 slots with maps of 600 s, which start together and end at
about the same time. At %d s production arrives with 30 maps of 60 s and a minimum share of
%d slots. It may preempt after it was below its minimum for the first time-out, or below half
of its fair share (20 slots) for the second.`, productionAt, productionMin),
		Arms:    []Arm{{Name: "fair", Policy: "fair", Conf: asInHadoop("fair")}},
		Cluster: sim.Config{Machines: 10, MapSlots: 4, ReduceSlots: -1, Series: true}, Workload: m.source(),
	}
	e.add("wait", 0, 0, 0, 0)
	for _, s := range []int{15, 30, 60} {
		e.add(fmt.Sprintf("minimum, %d s", s), s, 0, s, productionMin)
		e.add(fmt.Sprintf("half of the fair share, %d s", s), 0, s, s, fairSlots/2)
	}
	e.Charts = []Chart{{
		Name: "timeouts", Caption: "Slots of production, which arrives at the dashed line, with both time-outs of 30 s and without",
		Draw: drawTimeouts,
	}}
	return e
}

// add adds a point with time-outs, and its measure. expected is the paper's number in s, 0
// for the point without preemption.
func (e *Experiment) add(name string, minAfter, fairAfter, expected, slots int) {
	e.Points = append(e.Points, Point{Name: name, Set: func(t *Trial) {
		t.Conf = allocations(fairAfter, poolSpec{name: "research"}, poolSpec{name: "production", min: productionMin, minAfter: minAfter})
		t.set("mapred.fairscheduler.preemption", fmt.Sprint(expected > 0))
		t.Setup.Preempt = preempt.Config{Map: preempt.Kill}
	}})
	quote := ""
	if expected == 0 {
		quote, slots = "when tasks end", productionMin
	}
	e.Measures = append(e.Measures, Measure{
		Name: fmt.Sprintf("%s: production has %d slots after", name, slots), Unit: "s", Paper: float64(expected), Quote: quote,
		Of: func(r Repeat) float64 {
			return slotsUsed(r.At("fair", name), cluster.MapSlot, ofPool("production")).first(productionAt, atLeast(float64(slots))) - productionAt
		},
		Reason: "research's maps of 600 s started 100 s before production arrived",
	})
}

// drawTimeouts draws the slots of production over time, of the first repetition, at three
// points.
func drawTimeouts(all []Repeat) *draw.Figure {
	var lines []draw.Line
	for _, p := range []string{"minimum, 30 s", "half of the fair share, 30 s", "wait"} {
		line := draw.Line{Name: p, Steps: true, Points: []draw.Point{{}}}
		for _, s := range slotsUsed(all[0].At("fair", p), cluster.MapSlot, ofPool("production")) {
			line.Points = append(line.Points, draw.Point{X: s.from, Y: s.value})
		}
		lines = append(lines, line)
	}
	return draw.Lines(draw.Axes{X: "time [s]", Y: "map slots of production", Marks: []draw.Mark{{X: productionAt}}}, lines...)
}

// fairDelay varies how long jobs wait for local slots. It reproduces the claim of section
// 3.8, that a small delay gives almost full locality, and compares it with min-cost flow at
// the same load.
//
// Jobs are small, because a job with few maps has the least chance to find a local slot. A
// delay raises the part of local maps and lowers the time of those maps, but leaves slots
// idle; the mean sojourn time shows which effect is larger.
func fairDelay(o Options) Experiment {
	nodes, jobs := 100, 120
	if o.Short {
		nodes, jobs = 30, 30
	}
	m := jobMix{name: "small jobs", sigma: 0.2}
	for i := range jobs {
		m.jobs = append(m.jobs, jobSpec{id: fmt.Sprintf("j%03d", i), at: float64(i) * 4, maps: taskBatch{n: 3 + i%10*nodes/50, seconds: 20, bytes: 128 << 20}})
	}
	arm := Arm{Name: "delay", Policy: "fair", Conf: asInHadoop("fair"), Setup: sched.Setup{Placement: sched.Placement{Method: sched.Delay}}}
	flow := Arm{Name: "flow", Policy: "fair", Conf: asInHadoop("fair"), Once: true, Setup: sched.Setup{Placement: sched.DefaultPlacement()}}
	e := Experiment{
		ID: "delay", Title: "Delay scheduling: locality against delay (section 3.8)",
		Setup: fmt.Sprintf(`%d jobs of few maps of 20 s, four seconds apart, on %d machines with two slots and three
copies of each block. A map that reads from another machine takes 5 s longer (128 MiB at 25
MB/s). A job waits for the delay to get a local machine, and for the same time again to get
one in the rack. Machines report every second. The arm *flow* is Hammr's min-cost flow,
which has no such delay.`, jobs, nodes),
		Arms:    []Arm{arm, flow},
		Cluster: sim.Config{Machines: nodes, MapSlots: 2, ReduceSlots: -1, ReportInterval: 1000, RemoteRate: 25e6}, Workload: m.source(),
	}
	for _, s := range []float64{0, 1, 2, 5, 10, 20} {
		e.Points = append(e.Points, Point{Name: fmt.Sprintf("%g s", s), Value: s, Set: func(t *Trial) {
			t.Setup.Placement.Delay = locality.Delay{MachineWait: int64(s * 1000), RackWait: int64(s * 1000)}
		}})
	}
	names := []string{"delay", "flow"}
	for _, p := range e.Points {
		quote := ""
		if p.Value == 5 {
			quote = "a few seconds raise it drastically"
		}
		e.Measures = append(e.Measures, Measure{Name: "local maps, delay " + p.Name, Unit: "%", Quote: quote,
			Of: func(r Repeat) float64 { return localMaps(r.At("delay", p.Name)) }})
	}
	e.Measures = append(e.Measures, Measure{Name: "local maps, flow", Unit: "%", Of: func(r Repeat) float64 { return localMaps(r.At("flow", "0 s")) }})
	e.Charts = []Chart{
		{Name: "delay-locality", Caption: "Maps that run where their input is", Draw: func(all []Repeat) *draw.Figure {
			return curves(draw.Axes{X: "delay [s]", Y: "local maps [%]", Max: 100}, all, names, e.Points, localMaps)
		}},
		{Name: "delay-sojourn", Caption: "What the delay costs, and what it saves", Draw: func(all []Repeat) *draw.Figure {
			return curves(draw.Axes{X: "delay [s]", Y: "mean sojourn time [s]"}, all, names, e.Points, func(o *Outcome) float64 { return o.Summary().Mean })
		}},
	}
	return e
}
