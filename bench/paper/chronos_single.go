package paper

import (
	"fmt"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim"
)

// Reasons of several experiments.
const (
	whyWaits   = "a recovery waits for the end of the first tasks that started after the failure, minus the 25 s until the loss is declared; the times of tasks are this report's own"
	whyChronos = "chronos waits for progress reports of the tasks on the machines with the input. Tasks report once a second, and it waits for 1.5 s at most. Then a split takes half a second, and a reduce writes its memory in 2 s"
	whyNoGain  = "while job 1's recoveries wait, their slots do the work of the jobs behind it, under the plain policy and under chronos alike. No slot is idle, so those jobs can gain little. The paper explains their gain by slots that become free earlier"
	whyCheap   = "the choice of victims does not explain it. By priority alone kills lose up to seventeen times the work, and with the later failure most victims have run for 60 s, as in the paper; job 2 still takes hardly longer. A failure preempts at most about ten tasks. 12.5 % of job 2 is the work of 28 of its 224 maps, so it could only be the wait for a killed task at its end, which depends on the times of tasks. They are this report's own"
	whyYoung   = "victims had started at the failure or after it, so about 25 s before the loss was declared. In the paper they have run for longer. Here they have only if the machine fails in the middle of a wave of maps and the first tasks of job 2 are chosen"
	whyChange  = "a job gains the time that its recoveries waited, relative to its total time. Both depend on the times of tasks, and on whether the recoveries are the last tasks of the job to end"
)

// chronosMaps reproduces Fig. 5 and 6, under one policy, and under fifo Fig. 9(a). The times
// of tasks are fitted to the recovery waits, so the experiment can show only the gain of job
// 1 and the locality of its recoveries.
//
//	0 s          job 1 and, 1 s later, job 2
//	half of the  a machine fails; its attempts and outputs are gone, and nothing of
//	maps of 1    that is known
//	+25 s        the loss is declared: the recovery wait starts
//
// The measures are the changes of both jobs, the recovery waits, and the locality of
// recoveries and of all maps of job 1.
func chronosMaps(policy string) Experiment {
	figures := map[string]struct {
		title   string
		changes [2]float64
		waits   [2]quotedNumber
		wrong   quotedNumber
		locally float64
	}{
		"fifo": {
			title: "Fig. 5(a), 6(a) and 9(a)", changes: [2]float64{-20, -10}, waits: [2]quotedNumber{{51, ""}, {1.5, ""}},
			wrong: quotedNumber{51, "for as long as recoveries wait"}, locally: 15,
		},
		"fair": {
			title: "Fig. 5(b) and 6(b)", changes: [2]float64{-14, -2}, waits: [2]quotedNumber{{46, "46 to 51 s in Fig. 1(a), 51 s of it under fifo"}, {1.5, "under fifo"}},
			wrong: quotedNumber{48, ""}, locally: 22,
		},
	}
	f := figures[policy]
	e := Experiment{
		ID: policy + "-maps", Title: fmt.Sprintf("Map-heavy jobs under %s (section 6.1, %s)", policy, f.title),
		Setup: `Word counts of 17 and 56 GB, each with 32 reduces of 20 s, on 8 machines. A machine fails
when half of the first job's maps have finished.`,
		Arms: threeArms(policy), Points: failOneAt("job 1", "map", 50), Cluster: paperCluster(8), Workload: twoWordcounts().source(),
		Measures: changeMeasures(policy, f.changes, whyChange),
	}
	e.Measures = append(e.Measures, waitMeasures(policy, cluster.MapSlot, f.waits)...)
	e.Measures = append(e.Measures,
		Measure{Name: "time until scheduling is correct again, " + policy, Unit: "s", Paper: f.wrong.number, Quote: f.wrong.quote, Of: func(r Repeat) float64 { return misscheduledFor(r.Of(policy), "job 1") }, Reason: whyWaits},
		Measure{Name: "time until scheduling is correct again, chronos", Unit: "s", Paper: 2, Of: func(r Repeat) float64 { return misscheduledFor(r.Of(withChronos), "job 1") }, Reason: whyChronos},
		Measure{NeedsBlocks: true, Name: "recovered maps of job 1 that are local, " + policy, Unit: "%", Paper: 12.5, Of: func(r Repeat) float64 { return recoveredLocally(r.Of(policy), "job 1") },
			Reason: "the first free slots are on any of the seven remaining machines, of which two at most have the input. The number of slots that become free at one time, among which the policy can choose, depends on the times of tasks"},
		Measure{NeedsBlocks: true, Name: "recovered maps of job 1 that are local, chronos", Unit: "%", Paper: 100, Of: func(r Repeat) float64 { return recoveredLocally(r.Of(withChronos), "job 1") },
			Reason: "free slots are used before anything is preempted, and if the only machine with a copy runs no task that may be preempted, another machine runs the map"},
		Measure{NeedsBlocks: true, Name: "local maps of job 1, chronos over " + policy, Unit: "x", Paper: 1 + f.locally/100, Within: 0.05,
			Of: func(r Repeat) float64 {
				return jobLocality(r.Of(withChronos), "job 1") / jobLocality(r.Of(policy), "job 1")
			},
			Reason: "only the recovered maps differ, and their part of the job depends on the moment of the failure"},
	)
	e.Notes = []string{`Scheduling counts as correct again when the last recovery of the first job has started.
Until then the second job has slots to which the first has the higher claim.`}
	e.Charts = []Chart{e.jobBars([]string{policy, withChronos, noFailure}, []string{"job 1", "job 2"})}
	if policy == "fifo" {
		e.addAttemptTimes()
	}
	return e
}

// addAttemptTimes adds Fig. 9(a), the times of successful attempts under a failure. It shows
// whether preemption makes tasks slower.
func (e *Experiment) addAttemptTimes() {
	e.Cluster.Tasks = true
	for _, percent := range []int{50, 95} {
		e.Measures = append(e.Measures, Measure{Name: fmt.Sprintf("time of successful attempts, percentile %d, chronos over fifo", percent), Unit: "x", Quote: "a similar trend",
			Of: func(r Repeat) float64 {
				return percentile.Of(attemptTimes(r.Of(withChronos)), percent) / percentile.Of(attemptTimes(r.Of(fifoOnly)), percent)
			}})
	}
	e.Charts = append(e.Charts, Chart{Name: e.ID + "-attempts", Caption: "Times of successful attempts under a failure (section 6.4, Fig. 9(a))", Draw: func(all []Repeat) *draw.Figure {
		return cdfs(draw.Axes{X: "time of an attempt [s]", Y: "part of successful attempts"}, all, []string{withChronos, fifoOnly}, "", attemptTimes)
	}})
}

// attemptTimes returns the times of the successful attempts in s, without those whose output
// was lost. The parts of a map that was split count as attempts, as in the paper.
func attemptTimes(o *Outcome) (times []float64) {
	for _, t := range o.Tasks {
		if t.Outcome == sim.Finished || t.Outcome == sim.SplitOff {
			times = append(times, seconds(t.End-t.Start-t.Suspended))
		}
	}
	return times
}

// quotedNumber is a number of the paper, and its own words if it gives no number.
type quotedNumber struct {
	number float64
	quote  string
}

// waitMeasures measure the recovery waits of job 1, under the plain policy and under
// chronos. The wait starts with the declared loss, so the 25 s of the expiry are in neither
// number.
func waitMeasures(policy string, kind cluster.Slot, paper [2]quotedNumber) (list []Measure) {
	for i, arm := range []string{policy, withChronos} {
		list = append(list, Measure{
			Name: fmt.Sprintf("recovery wait of job 1's %vs, %s", kind, arm), Unit: "s", Paper: paper[i].number, Quote: paper[i].quote,
			Of: func(r Repeat) float64 { return recoveryWait(r.Of(arm), kind, "job 1") }, Reason: []string{whyWaits, whyChronos}[i],
		})
	}
	return list
}

// jobBars returns a picture of the jobs' times.
func (e *Experiment) jobBars(arms, jobs []string) Chart {
	return Chart{Name: e.ID, Caption: e.Title + ": times of the jobs", Draw: func(all []Repeat) *draw.Figure {
		return bars(draw.Axes{Y: "sojourn time [s]"}, all, arms, jobs, func(r Repeat, arm, job string) float64 { return sojourn(r.Of(arm), job) })
	}}
}

// chronosReduces reproduces Fig. 7.
//
// A lost reduce takes longest to recover: it fetches all of its input again. Under fifo it
// also waits for a slot until a reduce of job 2 ends, since job 2 occupies all of them;
// Chronos takes one by a checkpoint.
func chronosReduces() Experiment {
	m := jobMix{name: "sorts of 17 and 56 GB", sigma: 0.03, jobs: []jobSpec{sorting("job 1", 0, smallJobBlocks, 120), sorting("job 2", 1, largeJobBlocks, 280)}}
	e := Experiment{
		ID: "fifo-reduces", Title: "Reduce-heavy jobs under fifo (section 6.2, Fig. 7)",
		Setup: `Sorts of 17 and 56 GB, each with 32 reduces, which take all reduce slots of the 8 machines.
Maps take 25 s; reduces take 120 and 280 s after the shuffle (30 MB/s each); sigma 0.03. A
machine fails when the first job's reduces have done 90 % of their work. When the loss is
declared, the other reduces have finished, and the second job has their slots. **The moment,
the spread and the 280 s are fitted to the paper's wait of 325 s under fifo**, so the
agreement of this wait proves nothing. With sigma 0.1 and 400 s the other reduces were still
ending when the loss was declared: fifo waited for 1 s, and chronos gained nothing. The other
numbers are results.`,
		Arms: threeArms("fifo"), Points: failOneAt("job 1", "reduce", 90), Cluster: paperCluster(8), Workload: m.source(),
		Measures: changeMeasures("fifo", [2]float64{-55, -11}, whyChange),
	}
	e.Measures = append(e.Measures, waitMeasures("fifo", cluster.ReduceSlot, [2]quotedNumber{{325, ""}, {2, ""}})...)
	e.Charts = []Chart{e.jobBars([]string{fifoOnly, withChronos, noFailure}, []string{"job 1", "job 2"})}
	return e
}

// chronosKill reproduces Fig. 8, with the map-heavy jobs, at two moments, and with the
// reduce-heavy jobs.
//
// It compares two ways in which Chronos takes slots and, for kill, two in which it chooses
// victims. All arms recover the same tasks; the difference is the work of the victims, which
// is lost with kill. The chart is the distribution of that work over preempted tasks.
func chronosKill() Experiment {
	points := []Point{
		{Name: "maps", Set: func(t *Trial) {
			t.Workload = twoWordcounts().source()
			failMachines(1, "job 1", "map", 50)(t)
		}},
		{Name: "later maps", Set: func(t *Trial) {
			t.Workload = twoWordcounts().source()
			failMachines(1, "job 1", "map", 50)(t)
			t.Cluster.Failures[0].At = 40_000
		}},
		{Name: "reduces", Set: failMachines(1, "job 1", "reduce", 90)},
	}
	kill := preempt.Config{Map: preempt.Kill, Reduce: preempt.Kill, Costs: lightTask}
	e := Experiment{
		ID: "kill", Title: "Work-conserving preemption against kill (section 6.3, Fig. 8)",
		Setup: `The map-heavy and the reduce-heavy jobs as above, under fifo. Chronos splits maps and
checkpoints reduces, or kills both. It chooses the attempt of job 2 that has done least or,
*by priority*, as Algorithm 1 is printed: it compares nothing but the priorities of jobs, so
tasks of job 2 come in their order, the ones that have run longest first. *Later maps* are
the map-heavy jobs with a failure 40 s later, when the maps of job 2 have run for a while.`,
		Arms: []Arm{
			chronosArm(withChronos, "fifo", workConserving, nil),
			chronosArm(withKill, "fifo", kill, nil),
			chronosArm(killByPriority, "fifo", kill, map[string]string{chronosVictims: "priority"}),
		},
		Points: points, Cluster: paperCluster(8), Workload: chronosReduces().Workload,
	}
	for _, p := range points {
		e.addKillMeasures(p.Name)
		e.Charts = append(e.Charts, Chart{Name: "kill-" + strings.ReplaceAll(p.Name, " ", "-"), Caption: "Work lost per preempted task, " + p.Name + " (Fig. 8(b))", Draw: func(all []Repeat) *draw.Figure {
			return cdfs(draw.Axes{X: "work lost [s]", Y: "part of preempted tasks"}, all, []string{withChronos, withKill, killByPriority}, p.Name, workLost)
		}})
	}
	return e
}

// addKillMeasures adds measures of the cost of killing at a point. Times are in s; changes
// in %.
func (e *Experiment) addKillMeasures(point string) {
	e.Measures = append(e.Measures, Measure{Name: point + ": work lost, chronos", Unit: "s", Quote: "none", Of: func(r Repeat) float64 { return r.At(withChronos, point).Summary().Lost }})
	for _, arm := range []string{withKill, killByPriority} {
		name := strings.TrimPrefix(arm, "chronos, ")
		e.Measures = append(e.Measures,
			Measure{Name: fmt.Sprintf("%s: job 1 takes longer by, %s against chronos", point, name), Unit: "%", Quote: "similar", Of: relativeChangeAt(point, withChronos, arm, "job 1")},
			Measure{Name: fmt.Sprintf("%s: job 2 takes longer by, %s against chronos", point, name), Unit: "%", Paper: 12.5, Of: relativeChangeAt(point, withChronos, arm, "job 2"), Reason: whyCheap},
			Measure{Name: fmt.Sprintf("%s: killed tasks that had run for 60 s or more, %s", point, name), Unit: "%", Quote: "more than 50 %", Reason: whyYoung,
				Of: func(r Repeat) float64 {
					return 100 * fraction(workLost(r.At(arm, point)), func(s float64) bool { return s >= 60 })
				}},
			Measure{Name: fmt.Sprintf("%s: work lost, %s", point, name), Unit: "s", Of: func(r Repeat) float64 { return r.At(arm, point).Summary().Lost }},
		)
	}
}

// workLost returns the work in s that each preempted task has lost.
func workLost(o *Outcome) (values []float64) {
	for _, p := range o.Preempted {
		values = append(values, seconds(p.Lost))
	}
	return values
}

// chronosTwo reproduces Fig. 10. With two copies of each block two failures could lose input
// for good, so there are three.
func chronosTwo() Experiment {
	e := Experiment{
		ID: "double", Title: "Two failures at once (section 6.5, Fig. 10)",
		Setup: "As the first experiment, with three copies of each block; two machines fail at the same moment.",
		Arms:  threeArms("fifo"), Points: []Point{{Set: failMachines(2, "job 1", "map", 50)}}, Cluster: paperCluster(8), Workload: twoWordcounts().source(),
		Measures: changeMeasures("fifo", [2]float64{-22, -13}, whyChange),
	}
	e.Cluster.Replication = 3
	e.Measures = append(e.Measures, waitMeasures("fifo", cluster.MapSlot, [2]quotedNumber{})...)
	e.Charts = []Chart{e.jobBars([]string{fifoOnly, withChronos, noFailure}, []string{"job 1", "job 2"})}
	return e
}

// chronosSame reproduces Fig. 12. Chronos spares the failed job's own tasks; Chronos* may
// preempt them too. The paper expects a difference over slow links, where a local slot is
// worth more.
func chronosSame() Experiment {
	star := chronosArm(alsoSameJob, "fifo", workConserving, map[string]string{chronosSameJob: "true"})
	e := Experiment{
		ID: "same-job", Title: "Chronos*: preempting tasks of the same job (section 6.8, Fig. 12)",
		Setup: "As the first experiment, with links of 256 Mbit/s: a map that reads from another machine takes 8.4 s longer.",
		Arms:  append(threeArms("fifo"), star), Points: failOneAt("job 1", "map", 50), Cluster: paperCluster(8), Workload: twoWordcounts().source(),
		Measures: []Measure{
			{Name: "job 1 takes longer by, chronos* against chronos", Unit: "%", Quote: "similar", Of: relativeChange(withChronos, alsoSameJob, "job 1")},
			{Name: "job 2 takes longer by, chronos* against chronos", Unit: "%", Paper: 17, Of: relativeChange(withChronos, alsoSameJob, "job 2"),
				Reason: "a split costs half a second here and nothing is read twice, so a job that preempts its own tasks loses almost nothing; the paper does not explain its 17 %"},
			{Name: "recovered maps that are local, chronos", Unit: "%", Of: func(r Repeat) float64 { return recoveredLocally(r.Of(withChronos), "") }},
			{Name: "recovered maps that are local, chronos*", Unit: "%", Paper: 100, Of: func(r Repeat) float64 { return recoveredLocally(r.Of(alsoSameJob), "") },
				Reason: "a free slot on another machine is used before anything is preempted"},
		},
	}
	e.Cluster.RemoteRate, e.Cluster.ShuffleRate = 32e6, 8e6
	e.Charts = []Chart{e.jobBars([]string{fifoOnly, withChronos, alsoSameJob, noFailure}, []string{"job 1", "job 2"})}
	return e
}

// chronosOverhead reproduces Fig. 9(b): the cost of chronos without failures. Without a failure
// Chronos must do nothing, so both arms should be equal.
func chronosOverhead() Experiment {
	e := Experiment{
		ID: "overhead", Title: "Without any failure (section 6.4, Fig. 9(b))",
		Setup: "As the first experiment, but no machine fails.",
		Arms:  []Arm{plainArm("fifo"), chronosArm(withChronos, "fifo", workConserving, nil)}, Cluster: paperCluster(8), Workload: twoWordcounts().source(),
	}
	for _, job := range []string{"job 1", "job 2"} {
		e.Measures = append(e.Measures, Measure{Name: job + " takes longer by, chronos against fifo", Unit: "%", Quote: "negligible",
			Of: relativeChange(fifoOnly, withChronos, job)})
	}
	return e
}
