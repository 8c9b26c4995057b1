// Package simulate plays plans of package chaos in the simulator: the same brain
// and state as in a real cluster, machines and tasks that are modelled, and time
// that is a number.
//
//	report, err := simulate.Run(ctx, plan)
//
// Every kind of fault is played, as far as it means something where there are no
// bytes: docs/formats/plan.md says how. What does not is told in the verdict, as not
// injected, with its reason. There are no goroutines.
package simulate

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// What a job of a drill is like, in ms: its tasks sleep for most of that.
const (
	mapTasks, mapMillis       = 16, 600
	reduceTasks, reduceMillis = 3, 1200
	taskBytes                 = 15_000
	commitMillis              = 100        // for each part of the output
	memoryBytes               = 10_000_000 // that a checkpoint has, of which the disk writes 100 MB/s
)

// How the cluster is set, in ms.
const (
	expiryMillis    = 1000
	heartbeatMillis = 200
	electionMillis  = 1000
	restartMillis   = 300  // until a daemon that is restarted is there again
	timeoutMillis   = 5000 // after which an attempt that comes no further fails
	lookMillis      = 25   // how often it is looked whether a fault is due
)

// Report is what came of a plan. Times are ms of virtual time.
type Report struct {
	*chaos.Verdict
	Result *sim.Result // as far as it came
}

// Run plays a plan with the policy fifo, and looks through the state after every
// change. What goes wrong is in the verdict; an error tells of a faulty plan, or
// that ctx has ended.
func Run(ctx context.Context, plan *chaos.Plan) (*Report, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	p := &player{
		plan: plan, random: rand.New(rand.NewPCG(plan.Seed, 7)),
		faults: make([]faultState, len(plan.Faults)), inside: make(map[faultPoint]*activeFault),
	}
	for i, f := range plan.Faults {
		p.faults[i].why = "its trigger never came"
		if why := notModelled(f); why != "" {
			p.faults[i].why = "not modelled: " + why
			continue
		}
		p.pending = append(p.pending, i)
	}
	cfg := sim.Config{
		Policy: new(fifo.Policy), Machines: plan.Tasknodes, MapSlots: 2, ReduceSlots: 1, Seed: plan.Seed,
		Expiry: expiryMillis, Heartbeat: heartbeatMillis, Masters: plan.Masters, ElectionTime: electionMillis,
		CommitTime: commitMillis, InjectFaults: p.disturb, OnFailpoint: p.visited, CheckInvariants: true, Tasks: true,
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

// notModelled is why a fault means nothing here, "" when it does.
func notModelled(f chaos.Fault) string {
	if f.Target.Role == chaos.DataNode || f.Target.Role == chaos.NameNode {
		return "there is no HDFS"
	}
	return ""
}

// player is a plan that is being played.
type player struct {
	plan    *chaos.Plan
	random  *rand.Rand
	faults  []faultState
	pending []int // faults that have hit nothing yet
	inside  map[faultPoint]*activeFault
}

// faultState is what is known of one.
type faultState struct {
	injected  bool
	why       string // it has not hit
	target    string
	at        int64
	since     int64 // when something came of it
	hasLeader bool  // a master went on leading then
	harms     []*activeFault
}

// errNoTarget is why a fault that is due does not hit.
var errNoTarget = errors.New("nothing of that kind is there")

// disturb injects the faults that are due, for as long as the plan allows.
func (p *player) disturb(w *sim.Simulation) (again int64) {
	rest := p.pending[:0]
	for _, i := range p.pending {
		if !due(w, p.plan.Faults[i].Trigger) || !p.begin(w, i) {
			rest = append(rest, i)
		}
	}
	if p.pending = rest; len(rest) == 0 || w.Time() > p.plan.Limit.Milliseconds() {
		return 0
	}
	return lookMillis
}

// begin injects a fault; false says that it is to be tried again.
func (p *player) begin(w *sim.Simulation, i int) bool {
	f := &p.faults[i]
	target, err := p.inject(w, i)
	if err != nil {
		f.why = err.Error()
		return false
	}
	f.injected, f.why, f.target, f.at = true, "", target, w.Time()
	if len(f.harms) == 0 {
		f.markEffect(w)
	}
	return true
}

// markEffect notes that something has come of a fault.
func (f *faultState) markEffect(w *sim.Simulation) { f.since, f.hasLeader = w.Time(), w.Leader() >= 0 }

// due reports whether a trigger has come.
func due(w *sim.Simulation, t chaos.Trigger) bool {
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

// jobs are those of the plan, all submitted at once.
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
