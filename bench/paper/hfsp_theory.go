package paper

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/fluid"
)

// hfspSingle reproduces Fig. 1: one divisible server. Package sim/fluid computes it, and it
// agrees with the paper exactly. It checks the theory of the policy.
//
// Processor sharing ends the jobs at 50, 37.5 and 42.5 s. FSP serves them in the order in
// which they would end there, one at a time, and no job ends later.
func hfspSingle() (Experiment, error) {
	e := Experiment{
		ID: "fig1", Title: "One server: PS against FSP (Fig. 1)",
		Setup: "Jobs of 30, 10 and 10 s arrive at 0, 10 and 15 s. Sojourn times by `hammr sim fluid`.",
	}
	jobs := []fluid.Job{{ID: "1", SizeS: 30}, {ID: "2", ArrivalS: 10, SizeS: 10}, {ID: "3", ArrivalS: 15, SizeS: 10}}
	for i := range jobs {
		// Estimates are exact, as in the figure.
		jobs[i].EstimateS, jobs[i].Weight = jobs[i].SizeS, 1
	}
	papers := map[string][]float64{"ps": {50, 27.5, 27.5, 35}, "fsp": {50, 10, 15, 25}}
	for _, d := range []string{"ps", "fsp"} {
		times, err := fluid.Sojourns(d, jobs)
		if err != nil {
			return e, err
		}
		e.sojourns(d, append(times, Mean(times)), papers[d])
	}
	return e, nil
}

// hfspCapped reproduces Fig. 2: jobs that cannot use the whole cluster. The paper computes
// its numbers for a cluster that is infinitely divisible. The policy itself runs too, to
// show the difference that whole tasks make.
//
// A job that can use 35 % of the cluster cannot be served faster than with 35 %; the rest
// serves the next job. The paper extends FSP to that case, and fspSojourns computes it.
func hfspCapped() Experiment {
	const machines, slots = 20, 5
	jobs := []cappedJob{{"job 1", 0, 1, 30}, {"job 2", 10, 0.55, 10}, {"job 3", 13, 0.35, 10}}
	m := jobMix{name: "three jobs of one wave"}
	for _, j := range jobs {
		m.jobs = append(m.jobs, jobSpec{id: j.id, at: j.arrival, maps: taskBatch{n: int(j.demand * machines * slots), seconds: j.seconds}})
	}
	e := Experiment{
		ID: "fig2", Title: "Many processors: PS against FSP (Fig. 2)",
		Setup: fmt.Sprintf(`Jobs that can use 100, 55 and 35 %% of the cluster, for 30, 10 and 10 s, arrive at 0, 10 and
13 s. *ps* and *fsp* are a cluster that can be divided without limit. *hfsp* is Hammr's policy on
%d machines of %d slots, with 100, 55 and 35 maps of 30, 10 and 10 s. It knows their times
(oracle), and suspends them.`, machines, slots),
		Arms: []Arm{{Name: hfspArm, Policy: "hfsp", Conf: map[string]string{hfspEstimator: "oracle"},
			Setup: sched.Setup{Preempt: preempt.Config{Map: preempt.Suspend, Reduce: preempt.Suspend}}}},
		Cluster: sim.Config{Machines: machines, MapSlots: slots, ReduceSlots: -1, ProgressInterval: 200, Latency: -1, Series: true}, Workload: m.source(), Runs: 1,
	}
	ps, fsp := serve(jobs, processorSharing), fspSojourns(jobs)
	papers := [][]float64{{39, 14.5, 10.5, 64. / 3}, {39, 10, 10, 59. / 3}}
	e.sojourns("ps", append(ps, Mean(ps)), papers[0])
	e.sojourns("fsp", append(fsp, Mean(fsp)), papers[1])
	for i, paper := range papers[1] {
		of := func(r Repeat) float64 { return r.Of(hfspArm).Summary().Mean }
		what := "mean"
		if i < len(jobs) {
			what = jobs[i].id
			of = func(r Repeat) float64 { return sojourn(r.Of(hfspArm), what) }
		}
		e.Measures = append(e.Measures, Measure{Name: "hfsp, " + what, Unit: "s", Paper: paper, Of: of,
			Reason: "a suspended task resumes on its own machine, so the first job cannot spread over all slots at the end. And a task is preempted only after it has reported its progress"})
	}
	e.Charts = []Chart{{Name: "fig2-hfsp", Caption: "Slots of the three jobs under hfsp", Draw: func(all []Repeat) *draw.Figure {
		return jobAreas(all[0].Of(hfspArm), cluster.MapSlot, []string{"job 1", "job 2", "job 3"})
	}}}
	return e
}

// sojourns adds measures of computed numbers: the sojourn time of each job, and the mean.
// The last number of both lists is the mean.
func (e *Experiment) sojourns(arm string, ours, papers []float64) {
	for i := range ours {
		what := fmt.Sprintf("%s, job %d", arm, i+1)
		if i == len(ours)-1 {
			what = arm + ", mean"
		}
		e.Measures = append(e.Measures, Measure{Name: what, Unit: "s", Paper: papers[i], Of: func(Repeat) float64 { return ours[i] }})
	}
}

// jobAreas returns a picture of the slots of jobs over time. It shows which job is served at
// each moment.
func jobAreas(o *Outcome, kind cluster.Slot, jobs []string) *draw.Figure {
	of := make(map[string]steps)
	for _, j := range jobs {
		of[j] = slotsUsed(o, kind, ofJob(j))
	}
	return stacked(draw.Axes{X: "time [s]", Y: kind.String() + " slots"}, jobs, of)
}

// The arms of Fig. 7.
const (
	armSuspend = "eager (suspend)"
	armWait    = "wait"
	armKill    = "kill"
)

// hfspPreemption reproduces Fig. 7.
//
//	140 s  j1: 11 reduces of 500 s, 8 slots
//	150 s  j2 to j5: 5 reduces of 350 s, which HFSP serves first
//
// With suspend and kill they start at once; with wait they wait for a reduce of j1.
//
// It measures the mean sojourn time in minutes, and with kill the tasks and the work that
// are lost.
func hfspPreemption() Experiment {
	m := jobMix{name: "one large and four small", sigma: 0.02, jobs: []jobSpec{{id: "j1", at: 140, maps: taskBatch{n: 1, seconds: 1}, reduces: taskBatch{n: 11, seconds: 500}}}}
	jobs := []string{"j1", "j2", "j3", "j4", "j5"}
	for i, id := range jobs[1:] {
		n := 1
		if i == 0 {
			n = 2
		}
		m.jobs = append(m.jobs, jobSpec{id: id, at: 150, maps: taskBatch{n: 1, seconds: 1}, reduces: taskBatch{n: n, seconds: 350}})
	}
	arm := func(name string, mode preempt.Mode) Arm {
		return Arm{Name: name, Policy: "hfsp", Setup: sched.Setup{Preempt: preempt.Config{Map: preempt.Wait, Reduce: mode}}}
	}
	average := func(arm string) func(Repeat) float64 {
		return func(r Repeat) float64 { return r.Of(arm).Summary().Mean / 60 }
	}
	const why = "the paper says only that the tasks of the small jobs are shorter than 500 s; the 350 s are this report's own"
	e := Experiment{
		ID: "fig7", Title: "Preemption modes (section 4.4, Fig. 7)",
		Setup: `4 machines with 2 reduce slots. j1 has 11 reduces of 500 s and arrives at 140 s. j2 with 2
reduces, and j3, j4 and j5 with one each, arrive at 150 s; their reduces take 350 s (sigma
0.02). Each job has one map of 1 s. **The 350 s are fitted**: the paper says only that these
tasks are shorter than 500 s, and 350 s give both of its means. One number is fitted to two.`,
		Arms:    []Arm{arm(armSuspend, preempt.Suspend), arm(armWait, preempt.Wait), arm(armKill, preempt.Kill)},
		Cluster: sim.Config{Machines: 4, MapSlots: 2, ReduceSlots: 2, ReportInterval: 1000, Series: true}, Workload: m.source(),
		Measures: []Measure{
			{Name: "mean sojourn time, " + armSuspend, Unit: "min", Paper: 9, Of: average(armSuspend), Reason: why},
			{Name: "mean sojourn time, " + armWait, Unit: "min", Paper: 15, Of: average(armWait), Reason: why},
			{Name: "mean sojourn time, " + armKill, Unit: "min", Quote: "j1 takes longer than with suspend", Of: average(armKill), Reason: why},
			{Name: "j1 with kill over j1 with suspend", Unit: "x", Quote: "longer", Of: func(r Repeat) float64 { return sojourn(r.Of(armKill), "j1") / sojourn(r.Of(armSuspend), "j1") },
				Reason: "killed tasks have run for a short time, and free slots remain for j1's last tasks, so running them again costs j1 little or nothing"},
			{Name: "tasks of j1 that are killed", Unit: "tasks", Paper: 6, Of: func(r Repeat) float64 { return float64(r.Of(armKill).Summary().Preemptions) },
				Reason: "four jobs with five tasks need five slots; the paper's text says six"},
			{Name: "work lost, " + armKill, Unit: "s", Of: func(r Repeat) float64 { return r.Of(armKill).Summary().Lost }},
		},
	}
	e.Notes = []string{`What suspending a task costs against its memory (Fig. 8) is not simulated: ` + "`hammr bench suspend`" + ` measures it
on a machine with swap, and [docs/papers/real.md](../real.md#hfsp-the-cost-of-suspending-a-task-section-44-fig-8) has its table.`}
	for i, arm := range []string{armSuspend, armWait, armKill} {
		e.Charts = append(e.Charts, Chart{Name: fmt.Sprintf("fig7%c", 'a'+i), Caption: "Reduce slots, " + arm, Draw: func(all []Repeat) *draw.Figure {
			return jobAreas(all[0].Of(arm), cluster.ReduceSlot, jobs)
		}})
	}
	return e
}
