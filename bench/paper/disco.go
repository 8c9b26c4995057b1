package paper

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
)

// Disco is the paper on a preemptive policy for Disco. Disco here is the MapReduce engine
// of that name, whose scheduler the paper makes preemptive.
var Disco = Paper{
	Name: "disco", Title: "A preemptive fair scheduler policy for Disco", Runs: 10,
	Intro: `A research job of long tasks occupies all slots of 5 machines with 2 cores. A production job
of short tasks arrives 20 s later. Both have 25 maps. The paper gives no times of tasks.
Here they are read off its Fig. 5: research's first maps end after 80 s, and production's 25
maps take 5 waves of a few seconds. So the wait of production under the original policy is
fitted; it is not a result.

As in Disco, all stages share the slots of a machine. Shuffle and reduce are one stage of 5
tasks here, which starts when the last map has ended.

Disco's original policy (a priority that moves slowly, and no preemption) treats two jobs as
Hadoop's fair scheduler without preemption does: the job with fewer slots gets the next free
one. That scheduler replaces it here.`,
	Reruns: "The paper's numbers are means of ten runs.",
	Plan: func(o Options) ([]Experiment, error) {
		plan := []Experiment{discoJobs()}
		if o.Controls {
			plan = append(plan, discoBusy())
		}
		return plan, nil
	},
}

// The arms, and the arrival of production in s.
const (
	original          = "fair, no preemption"
	preemptive        = "disco, preemptive"
	productionArrival = 20
)

// 0 s   research takes all 10 slots with maps of 79 s
// 20 s  production arrives: fair without preemption waits for research's maps,
//
//	disco preempts half of them
//
// It measures the sojourn time of production under both policies, how long it waits at its
// start and between its stages, and what research loses. Preemption kills, as in the paper, so
// lost work counts.
func discoJobs() Experiment {
	m := jobMix{name: "research and production", sigma: 0.03, jobs: []jobSpec{
		{id: "research", maps: taskBatch{n: 25, seconds: 79}, reduces: taskBatch{n: 5, seconds: 6, bytes: 8 << 20}, afterAllMaps: true},
		{id: "production", at: productionArrival, maps: taskBatch{n: 25, seconds: 2.4}, reduces: taskBatch{n: 5, seconds: 3, bytes: 8 << 20}, afterAllMaps: true},
	}}
	ratio := func(job string) func(Repeat) float64 {
		return func(r Repeat) float64 { return sojourn(r.Of(original), job) / sojourn(r.Of(preemptive), job) }
	}
	startWait := ofArm(func(o *Outcome) float64 {
		p := jobNamed(o, "production")
		return seconds(p.Start - p.Submit)
	})
	transition := ofArm(func(o *Outcome) float64 {
		p := jobNamed(o, "production")
		return seconds(p.ReduceStart - p.MapFinish)
	})
	const times = "it is set by the times of research's maps, which are this report's own"
	return Experiment{
		ID: "jobs", Title: "Production and research (section 4, Fig. 3 to 6)",
		Setup: `5 machines with 2 slots. Research: 25 maps of 79 s. Production: 25 maps of 2.4 s.
Lognormal spread, sigma 0.03. Preemption kills.`,
		Arms: []Arm{
			{Name: original, Policy: "fair", Conf: asInHadoop("fair")},
			{Name: preemptive, Policy: "disco", Conf: map[string]string{"hammr.disco.transition.hold": "10000"},
				Setup: sched.Setup{Preempt: preempt.Config{Map: preempt.Kill, Reduce: preempt.Kill}}},
		},
		Cluster: sim.Config{Machines: 5, MapSlots: 2, ReduceSlots: -1, SharedSlots: true, ProgressInterval: 1000, Series: true}, Workload: m.source(),
		Measures: []Measure{
			{Name: "production, original over preemptive", Unit: "x", Paper: 8.4, Of: ratio("production"), Reason: "under the original policy production waits twice in the paper, and once here: see the wait between maps and shuffle. The length of a wait depends on research's maps"},
			{Name: "research takes longer by", Unit: "%", Paper: 4, Reason: "killed tasks run again. They cost a wave of 79 s, or fit into the last wave, which is half full: that depends on the spread of times",
				Of: func(r Repeat) float64 { return 100 * (1/ratio("research")(r) - 1) }},
			{Name: "production starts after, " + original, Unit: "s", Paper: 60, Of: startWait(original), Reason: times},
			{Name: "production starts after, " + preemptive, Unit: "s", Quote: "almost no waiting", Of: startWait(preemptive), Reason: "a policy does not preempt attempts of unknown progress, and attempts report their progress once a second"},
			{Name: "from the last map to the first of the shuffle, " + original, Unit: "s", Paper: 61, Of: transition(original), Reason: "Hammr's master gives the slot of the last map to the next stage in the same step; in Disco the end of a stage takes a moment, in which research gets the slot"},
			{Name: "from the last map to the first of the shuffle, " + preemptive, Unit: "s", Quote: "no waiting", Of: transition(preemptive), Reason: "slots are reserved for a job between two stages"},
			{Name: "work lost, " + preemptive, Unit: "s", Paper: 100, Of: func(r Repeat) float64 { return r.Of(preemptive).Summary().Lost },
				Reason: "5 slots had worked for 20 s, and ending their tasks takes time"},
		},
		Charts: []Chart{
			{Name: "slots-original", Caption: "Running tasks: " + original + " (Fig. 5)", Draw: drawDisco(original)},
			{Name: "slots-preemptive", Caption: "Running tasks: " + preemptive + " (Fig. 6)", Draw: drawDisco(preemptive)},
			{Name: "times", Caption: "Times of the jobs (Fig. 3 and 4)", Draw: func(all []Repeat) *draw.Figure {
				return bars(draw.Axes{Y: "sojourn time [s]"}, all, []string{original, preemptive}, []string{"production", "research"},
					func(r Repeat, arm, job string) float64 { return sojourn(r.Of(arm), job) })
			}},
		},
	}
}

// discoBusy returns the control of discoJobs on real clusters, with tasks that compute. Its
// size suits two cores. In the simulator it shows nothing new; on a real cluster it shows
// what sleeping tasks hide.
func discoBusy() Experiment {
	e := discoJobs()
	e.ID, e.Title = "busy", "Control: the same on two slots, with maps that compute"
	e.Setup = `One machine with 2 slots, and 5 maps of each job instead of 25. All else is as above. The
paper's numbers are those of 5 machines. The simulator has a core for each slot.`
	e.Cluster.Machines, e.Charts = 1, nil
	e.Workload = jobMix{name: "research and production, small", sigma: 0.03, jobs: []jobSpec{
		{id: "research", maps: taskBatch{n: 5, seconds: 79}, reduces: taskBatch{n: 1, seconds: 6}, afterAllMaps: true},
		{id: "production", at: productionArrival, maps: taskBatch{n: 5, seconds: 2.4}, reduces: taskBatch{n: 1, seconds: 3}, afterAllMaps: true},
	}}.source()
	e.Measures = append(e.Measures[:len(e.Measures)-1:len(e.Measures)-1], Measure{
		Name: "research, " + original, Unit: "s", Reason: "on a real cluster it shows how much longer maps take when they share cores with each other and with daemons",
		Of: func(r Repeat) float64 { return sojourn(r.Of(original), "research") },
	})
	return e
}

// drawDisco draws the running tasks of both jobs in the first repetition.
func drawDisco(arm string) func([]Repeat) *draw.Figure {
	return func(all []Repeat) *draw.Figure {
		of := make(map[string]steps)
		for _, job := range []string{"research", "production"} {
			of[job] = slotsUsed(all[0].Of(arm), cluster.MapSlot, ofJob(job))
		}
		return stacked(draw.Axes{X: "time [s]", Y: "running tasks"}, []string{"research", "production"}, of)
	}
}
