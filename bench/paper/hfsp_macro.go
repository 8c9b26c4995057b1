package paper

import (
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/results"
)

// hfspSmall reproduces Fig. 3 on FB2009, and measures locality. The times of tasks come from
// a model of bytes, so it runs with two rates. Conclusions that hold at both do not depend
// on the model's rate.
//
// It measures the sojourn times of small, medium and big jobs under fifo, fair and hfsp,
// their ratios, and the part of local maps. All arms have the same jobs, blocks and delays
// for locality; the policies differ in the order of jobs and in preemption of reduces.
func hfspSmall(o Options, t traces) Experiment {
	e := Experiment{
		ID: "fig3", Title: "FB2009: sojourn times by class (section 4.2, Fig. 3), locality (section 4.3)",
		Setup: "FB2009: 53 small, 41 medium and 6 large jobs, of 13,757 maps and 2,301 reduces.",
		Arms:  hfspArms(), Cluster: hfspCluster(o), Workload: t.source("fb2009", 0), Notes: t.notes(),
		Points: []Point{
			{Name: "60 s a block", Value: 60},
			{Name: "30 s a block", Value: 30, Set: func(tr *Trial) { tr.Workload = t.source("fb2009", 30*time.Second) }},
		},
	}
	for _, p := range e.Points {
		for _, c := range classes {
			e.byClass(p.Name, c)
		}
		e.Measures = append(e.Measures, Measure{Name: p.Name + ": all, mean under fair over hfsp", Unit: "x",
			Of: ratioOfSojourns(fairArm, hfspArm, p.Name)})
		e.Measures = append(e.Measures, Measure{
			Name: p.Name + ": all, mean under fifo over hfsp", Unit: "x", Quote: "5 to 10, by workload",
			Of:     ratioOfSojourns(fifoArm, hfspArm, p.Name),
			Reason: "how much jobs delay each other depends on the load, which depends on the times of tasks",
		})
		for i, arm := range compared {
			e.Measures = append(e.Measures, Measure{NeedsBlocks: true, Name: p.Name + ": local maps, " + arm, Unit: "%", Paper: []float64{98, 100}[i], Within: 0.5,
				Of: func(r Repeat) float64 { return localMaps(r.At(arm, p.Name)) }, Reason: whyLocal})
		}
	}
	for _, c := range classes {
		e.Charts = append(e.Charts, Chart{Name: "fig3-" + c.name, Caption: "FB2009, 60 s a block: sojourn times of " + c.name + " jobs",
			Draw: func(all []Repeat) *draw.Figure {
				return cdfs(draw.Axes{X: "sojourn time [s]", Y: "part of jobs"}, all, compared, "60 s a block", func(o *Outcome) []float64 { return sojourns(o, c.name) })
			}})
	}
	return e
}

// jobClass is one of the sizes of FB2009's jobs, with the paper's words on HFSP. why is the
// reason for a result that differs from the words.
type jobClass struct{ name, says, why string }

var classes = []jobClass{
	{"small", "slightly better", "most of it is the wait for local slots. Maps of small jobs are samples, which start at once under hfsp. Under fair they skip slots for up to 4.5 s, longer than such maps take"},
	{"medium", "clearly better", ""},
	{"big", "clearly better", "the largest jobs are served last, and gain only when the others have ended: less where the load is below 1"},
}

// whyLocal is the reason for another locality than in the paper.
const whyLocal = "the paper does not give its wait for local slots. Samples do not wait here: of the small jobs, whose maps are all samples, less than half of the maps are local at 60 s a block. So hfsp has fewer local maps than fair at 60 s a block, and hardly more at 30 s"

// byClass adds measures of the jobs of a class at a point. The ratio compares the means of
// the class: above 1 hfsp is faster.
func (e *Experiment) byClass(point string, c jobClass) {
	at := func(arm string) func(Repeat) float64 {
		return func(r Repeat) float64 { return Mean(sojourns(r.At(arm, point), c.name)) }
	}
	for _, arm := range []string{fifoArm, fairArm, hfspArm} {
		e.Measures = append(e.Measures, Measure{Name: fmt.Sprintf("%s: %s jobs, mean, %s", point, c.name, arm), Unit: "s", Of: at(arm)})
	}
	e.Measures = append(e.Measures, Measure{
		Name: fmt.Sprintf("%s: %s jobs, fair over hfsp", point, c.name), Unit: "x", Quote: c.says, Reason: c.why,
		Of: func(r Repeat) float64 { return at(fairArm)(r) / at(hfspArm)(r) },
	})
}

// ratioOfSojourns returns the mean sojourn time under one arm over that under another, at a
// point.
func ratioOfSojourns(arm, over, point string) func(Repeat) float64 {
	return func(r Repeat) float64 { return r.At(arm, point).Summary().Mean / r.At(over, point).Summary().Mean }
}

// largeRuns is how often FB2010 is repeated: it has 112,942 maps.
const largeRuns = 3

// hfspLarge reproduces Fig. 4 on FB2010, the heavily loaded workload: jobs queue for hours,
// and the order of service decides.
//
// It measures how many jobs have ended after an hour, the medians of the phases, and how
// much HFSP suspends. Suspension is cheap in this model, since memory is sufficient.
func hfspLarge(o Options, t traces) Experiment {
	const hour = 3600
	e := Experiment{
		ID: "fig4", Title: "FB2010: sojourn times by phase (section 4.2, Fig. 4), and suspended tasks",
		Setup: "FB2010: 93 jobs of 112,942 maps and 6,688 reduces.",
		Arms:  hfspArms(), Cluster: hfspCluster(o), Workload: t.source("fb2010", 0), Runs: largeRuns, Notes: t.notes(),
	}
	const load = "both have finished more jobs after an hour here. Of the paper's jobs only the classes are known: they were larger than those of the trace, or their tasks took longer than 60 s a block, which is this report's own time"
	for i, arm := range compared {
		e.Measures = append(e.Measures, Measure{Name: "jobs done after an hour, " + arm, Unit: "%", Paper: []float64{1, 20}[i],
			Of: func(r Repeat) float64 { return 100 * doneAt(r.Of(arm), hour) }, Reason: load})
	}
	e.Measures = append(e.Measures,
		Measure{Name: "jobs done under fair when hfsp has done 80 %", Unit: "%", Paper: 15, Reason: load,
			Of: func(r Repeat) float64 { return 100 * doneAt(r.Of(fairArm), timeOfDone(r.Of(hfspArm), 80)) }},
		Measure{Name: "median of the map phase, fair over hfsp", Unit: "x", Quote: "more than 2",
			Of: func(r Repeat) float64 { return median(mapPhases(r.Of(fairArm))) / median(mapPhases(r.Of(hfspArm))) }},
		Measure{Name: "median of the reduce phase, fair less hfsp", Unit: "min", Paper: 30, Reason: "a reduce phase starts with its first reduce, which waits for the last map. So it includes the time of maps, which is this report's own",
			Of: func(r Repeat) float64 {
				return (median(reducePhases(r.Of(fairArm))) - median(reducePhases(r.Of(hfspArm)))) / 60
			}},
		Measure{Name: "mean, fair over hfsp", Unit: "x", Of: ratioOfSojourns(fairArm, hfspArm, "")},
		Measure{Name: "mean, fifo over hfsp", Unit: "x", Quote: "5 to 10, by workload", Reason: "with several hours of work in the queue all the time, fifo is as good as sharing; the paper does not say which factor belongs to which workload",
			Of: ratioOfSojourns(fifoArm, hfspArm, "")},
		Measure{Name: "tasks that are suspended and resumed, hfsp", Unit: "%", Quote: "at most 10 %", Of: func(r Repeat) float64 { return 100 * suspendedParts(r.Of(hfspArm)).ofTasks }, Reason: whySuspended},
		Measure{Name: "reduces that are suspended and resumed, hfsp", Unit: "%", Of: func(r Repeat) float64 { return 100 * suspendedParts(r.Of(hfspArm)).ofReduces }},
		Measure{Name: "jobs of which reduces are suspended, hfsp", Paper: 10, Of: func(r Repeat) float64 { return suspendedParts(r.Of(hfspArm)).jobs }, Reason: whySuspended},
	)
	phases := []struct {
		name, what string
		of         func(*Outcome) []float64
	}{
		{"fig4-map", "map phase", mapPhases}, {"fig4-reduce", "reduce phase", reducePhases}, {"fig4-all", "whole jobs", func(o *Outcome) []float64 { return sojourns(o, "") }},
	}
	for _, p := range phases {
		e.Charts = append(e.Charts, Chart{Name: p.name, Caption: "FB2010: sojourn times, " + p.what, Draw: func(all []Repeat) *draw.Figure {
			return cdfs(draw.Axes{X: "sojourn time [s]", Y: "part of jobs", Marks: []draw.Mark{{X: hour, Name: "1 h"}}}, all, compared, "", p.of)
		}})
	}
	return e
}

// doneAt returns the part of the jobs that have ended at a time in s. Jobs that failed would
// count too; none does.
func doneAt(o *Outcome, at float64) float64 {
	return fraction(o.Jobs, func(j sim.JobResult) bool { return seconds(j.Finish) <= at })
}

// timeOfDone returns when a percentage of the jobs has ended, in s.
func timeOfDone(o *Outcome, percent int) float64 {
	var ends []float64
	for i := range o.Jobs {
		ends = append(ends, seconds(o.Jobs[i].Finish))
	}
	return percentile.Of(ends, percent)
}

// median returns the median, NaN of no values.
func median(values []float64) float64 { return results.SpreadOf(values).Median }

// mapPhases returns the times from submission to the end of the last map, s. It includes the
// time in the queue.
func mapPhases(o *Outcome) (times []float64) {
	for i := range o.Jobs {
		times = append(times, seconds(o.Jobs[i].MapFinish-o.Jobs[i].Submit))
	}
	return times
}

// reducePhases returns the times from the first reduce to the end of the last, s. It does not
// include the queue, but the wait for the last map.
func reducePhases(o *Outcome) (times []float64) {
	for i := range o.Jobs {
		if j := &o.Jobs[i]; j.Reduces > 0 {
			times = append(times, seconds(j.ReduceFinish-j.ReduceStart))
		}
	}
	return times
}

// whySuspended is the reason for more or fewer suspended tasks than in the paper.
const whySuspended = "the paper's 10 % are of \"running tasks\" in its logs. It does not say whether these include maps, which are never suspended. Which jobs compete for reduce slots depends on the times of tasks, which are this report's own"

// suspendedShare is the part of a workload that was suspended; each task and job counts
// once.
type suspendedShare struct{ ofTasks, ofReduces, jobs float64 }

// Tasks that were suspended several times count once.
func suspendedParts(o *Outcome) suspendedShare {
	type task struct {
		job    string
		number int
	}
	reduces, jobs := make(map[task]bool), make(map[string]bool)
	for _, p := range o.Preempted {
		if p.Mode == preempt.Suspend { // which maps never are
			reduces[task{p.Job, p.Task}], jobs[p.Job] = true, true
		}
	}
	var all, ofAll int
	for i := range o.Jobs {
		ofAll += o.Jobs[i].Reduces
		all += o.Jobs[i].Maps + o.Jobs[i].Reduces
	}
	n := float64(len(reduces))
	return suspendedShare{n / float64(all), n / float64(ofAll), float64(len(jobs))}
}

// hfspClusterSizes reproduces Fig. 5.  It compares fair and hfsp only.
//
// The paper's claim is that HFSP needs fewer machines for the same sojourn time. With many
// machines no job waits, and order does not matter.
func hfspClusterSizes(o Options, t traces) Experiment {
	e := Experiment{
		ID: "fig5", Title: "FB2009: mean sojourn time against the number of machines (section 4.3, Fig. 5)",
		Setup: "FB2009 on 10 to 100 machines.", Arms: hfspArms()[1:], Cluster: hfspCluster(o), Workload: t.source("fb2009", 0), Runs: nodeRuns,
	}
	step := 10
	if o.Short {
		step = 50
	}
	for n := step; n <= 100; n += step {
		nodes := n
		if o.Short {
			nodes /= sampleEvery
		}
		name := fmt.Sprintf("%d machines", n)
		e.Points = append(e.Points, Point{Name: name, Value: float64(n), Set: func(t *Trial) { t.Cluster.Machines = nodes }})
		e.Measures = append(e.Measures, Measure{Name: name + ": mean, fair over hfsp", Unit: "x", Quote: "more than 1, most on few machines", Reason: whyMachines,
			Of: ratioOfSojourns(fairArm, hfspArm, name)})
	}
	e.Charts = []Chart{{Name: "fig5", Caption: "FB2009: mean sojourn time against the number of machines", Draw: func(all []Repeat) *draw.Figure {
		return curves(draw.Axes{X: "machines", Y: "mean sojourn time [s]", LogY: true}, all, compared, e.Points, func(o *Outcome) float64 { return o.Summary().Mean })
	}}}
	return e
}

// whyMachines is the reason why the gap does not close with more machines, as it does in the
// paper.
const whyMachines = "from 80 machines it grows again, because fair gains nothing by more machines there. It does not preempt reduces that started when 5 % of their job's maps had ended, and one job has 200 reduces, as many as the slots of 100 machines. So medium jobs wait minutes for their first reduce. HFSP suspends such reduces. The paper's jobs are different ones, some with 500 reduces and more"

// nodeRuns is how often each size of cluster is repeated.
const nodeRuns = 5

// hfspErrors reproduces Fig. 6. It has maps only, as in the paper.
//
// The error is multiplicative and uniform, as in the paper: a size of 100 s at a = 0.5
// becomes one of 50 to 150 s. The measure is the mean sojourn time relative to that without
// errors.
func hfspErrors(o Options, t traces) Experiment {
	e := Experiment{
		ID: "fig6", Title: "FB2009, maps only: mean sojourn time against errors of sizes (section 4.3, Fig. 6)",
		Setup: `Maps of FB2009. The size of a job that HFSP uses is drawn uniformly between (1-a) and (1+a)
times its estimate. At a = 0 nothing is drawn. FAIR does not use sizes.`,
		Arms: hfspArms()[1:], Cluster: hfspCluster(o), Workload: mapsOnly(t.source("fb2009", 0)),
	}
	e.Arms[0].Once = true
	step := 1
	if o.Short {
		step = 5
	}
	ratio := func(point string) func(Repeat) float64 {
		return func(r Repeat) float64 {
			return r.At(hfspArm, point).Summary().Mean / r.At(hfspArm, "a = 0").Summary().Mean
		}
	}
	for n := 0; n <= 10; n += step {
		a := float64(n) / 10
		name := fmt.Sprintf("a = %g", a)
		e.Points = append(e.Points, Point{Name: name, Value: a, Set: func(tr *Trial) {
			if tr.Arm == hfspArm && a > 0 {
				sizeError(tr, a)
			}
		}})
		e.Measures = append(e.Measures, Measure{Name: name + ": mean, hfsp", Unit: "s", Of: func(r Repeat) float64 { return r.At(hfspArm, name).Summary().Mean }})
		if a > 0 {
			e.Measures = append(e.Measures, Measure{Name: name + ": mean over that at a = 0", Unit: "x", Quote: "close to 1, except for the largest errors", Of: ratio(name)})
		}
	}
	e.Measures = append(e.Measures, Measure{Name: "mean, fair", Unit: "s", Of: func(r Repeat) float64 { return r.At(fairArm, "a = 0").Summary().Mean }})
	e.Charts = []Chart{{Name: "fig6", Caption: "Mean sojourn time against errors of sizes", Draw: func(all []Repeat) *draw.Figure {
		return curves(draw.Axes{X: "error a", Y: "mean sojourn time [s]"}, all, compared, e.Points, func(o *Outcome) float64 { return o.Summary().Mean })
	}}}
	return e
}
