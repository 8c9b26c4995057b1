// Package simulate plays plans of package chaos in the simulator: the brain and the state
// are those of a real cluster, machines and tasks are modelled, and time is virtual.
//
//	report, err := simulate.Run(ctx, plan)
//
// What a kind of fault does here is declared in chaos/kinds.go, over the interface
// chaos.Simulation; docs/formats/plan.md describes it. The verdict lists a fault that has
// no model as not injected, with the reason. The package starts no
// goroutines.
package simulate

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// The size of a drill's job, times in ms. Its tasks sleep for most of their time.
const (
	// A map slot of the 8 runs two maps, and a reduce slot of the 4 at most one reduce, so
	// a job takes about 3 s if nothing fails.
	mapTasks, mapMillis       = 16, 600
	reduceTasks, reduceMillis = 3, 1200
	taskBytes                 = 15_000
	commitMillis              = 100        // for each part of the output
	memoryBytes               = 10_000_000 // of a checkpoint; the disk writes 100 MB/s
)

// Settings of the cluster, in ms.
const (
	// The expiry and the heartbeat have the values that drills with processes use, so that a
	// plan gives about the same sequence of events in both.
	expiryMillis    = 1000
	heartbeatMillis = 200
	electionMillis  = 1000
	timeoutMillis   = 5000 // after which an attempt without progress fails
	pollMillis      = 25   // between two checks whether a fault is due
)

// Report is the outcome of a plan. Times are ms of virtual time. Result has more than the
// verdict, for tests and for pictures of the run.
type Report struct {
	*chaos.Verdict
	Result *sim.Result // up to the error, if there was one
}

// Run plays a plan with the policy fifo, and checks the invariants after every change of the
// state. The verdict lists what goes wrong; the error is for an invalid plan, or from ctx.
//
// Package sim runs the loop, and calls back at two places:
//
//	injectDue   every pollMillis while faults are pending: injects those that are due
//	hit         at each failpoint of an attempt or a master: the effect of active faults
func Run(ctx context.Context, plan *chaos.Plan) (*Report, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	p := &player{
		plan: plan, random: rand.New(rand.NewPCG(plan.Seed, 7)),
		faults: make([]faultState, len(plan.Faults)), inside: make(map[faultPoint]*activeFault),
	}
	for i, f := range plan.Faults {
		p.faults[i].reason = "its trigger never fired"
		if reason := notModelled(f); reason != "" {
			p.faults[i].reason = "not modelled: " + reason
			continue
		}
		p.pending = append(p.pending, i)
	}
	cfg := sim.Config{
		Policy: new(fifo.Policy), Machines: plan.Tasknodes, MapSlots: 2, ReduceSlots: 1, Seed: plan.Seed,
		Expiry: expiryMillis, ReportInterval: heartbeatMillis, Masters: plan.Masters, ElectionTime: electionMillis,
		CommitTime: commitMillis, InjectFaults: p.injectDue, OnFailpoint: p.hit, CheckInvariants: true, Tasks: true,
	}
	cfg.Costs.TaskBytes = memoryBytes
	result, err := sim.Run(ctx, cfg, jobs(plan))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if result == nil {
		result = new(sim.Result)
	}
	return &Report{p.judge(result, err), result}, nil
}

// notModelled returns why a fault has no model, or "" if it has a model. Other kinds without
// a model are injected and have no effect, see chaos.KindSpec.
func notModelled(f chaos.Fault) string {
	if f.Target.Role == chaos.DataNode || f.Target.Role == chaos.NameNode {
		return "there is no HDFS"
	}
	return ""
}

// player plays one plan. All of it runs on the goroutine of Run.
type player struct {
	plan    *chaos.Plan
	random  *rand.Rand
	faults  []faultState
	pending []int // faults that are not injected yet
	inside  map[faultPoint]*activeFault
}

// faultState is the progress of one fault.
//
//	pending ── injectDue ─► injected ── first effect ─► since, hasLeader
type faultState struct {
	injected  bool
	reason    string // why it is not injected
	target    string
	at        int64
	since     int64 // when it first had an effect
	hasLeader bool  // a master kept the lead then
	active    []*activeFault
}

// injectDue injects the faults that are due, until the limit of the plan, and returns the
// ms to its next call. Faults that are due at the same moment are injected in the order of
// the plan.
func (p *player) injectDue(w *sim.Simulation) (next int64) {
	rest := p.pending[:0]
	for _, i := range p.pending {
		if !isDue(w, p.plan.Faults[i].Trigger) || !p.tryInject(w, i) {
			rest = append(rest, i)
		}
	}
	if p.pending = rest; len(rest) == 0 || w.Time() > p.plan.Limit.Milliseconds() {
		return 0
	}
	return pollMillis
}

// tryInject injects a fault. It reports false if the caller should try again. A fault with
// nothing to hit stays pending, and its reason is updated at each try.
func (p *player) tryInject(w *sim.Simulation, i int) bool {
	f := &p.faults[i]
	target, err := p.inject(w, i)
	if err != nil {
		f.reason = err.Error()
		return false
	}
	f.injected, f.reason, f.target, f.at = true, "", target, w.Time()
	if len(f.active) == 0 {
		f.markEffect(w)
	}
	return true
}

// markEffect records that a fault has had an effect. For a master's fault, recovery is over
// at once if another master still leads.
func (f *faultState) markEffect(w *sim.Simulation) { f.since, f.hasLeader = w.Time(), w.Leader() >= 0 }

// isDue reports whether what a trigger waits for has happened. A map writes one sorted file
// here, so spills are counted as finished maps.
func isDue(w *sim.Simulation, t chaos.Trigger) bool {
	if t.Event == chaos.AtTime {
		return w.Time() >= t.At.Milliseconds()
	}
	j := w.Job(t.Job)
	switch {
	case j == nil:
		return false
	case t.Event == chaos.AtSpill:
		return j.Stages[0].Finished >= t.N
	case t.Event == chaos.AtCommit:
		return committing(j) && w.PartsCommitted(t.Job) >= t.N
	}
	return w.Reached(t.Job, string(t.Event), float64(t.N))
}

// jobs returns the jobs of the plan, all submitted at once. Sizes are the same for all
// programs: the simulator has no bytes to sort or count, and a drill's tasks take as long as
// they sleep.
func jobs(plan *chaos.Plan) *workload.Workload {
	w := &workload.Workload{Name: "plan"}
	tasks := func(n int, each time.Duration) (list []workload.Task) {
		for range n {
			list = append(list, workload.Task{Millis: each.Milliseconds(), Bytes: taskBytes})
		}
		return list
	}
	for _, j := range plan.Jobs {
		w.Jobs = append(w.Jobs, workload.Job{
			ID: j.Name, Name: j.Program, SlowStart: -1,
			Maps: tasks(mapTasks, mapMillis*time.Millisecond), Reduces: tasks(reduceTasks, reduceMillis*time.Millisecond),
		})
	}
	return w
}
