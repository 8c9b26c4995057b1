// Package simulate plays plans of package chaos in the simulator: the same brain
// and state as in a real cluster, machines and tasks that are modelled, and time
// that is a number.
//
//	report, err := simulate.Run(ctx, plan)
//
// Losses of tasknodes and machines are modelled, by whatever makes them silent for
// longer than the masters wait: kill, restart, stop and partition. Everything else
// is reported as not modelled. There are no goroutines.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// What a job of a drill is like, in ms: its tasks sleep for most of that.
const (
	maps, mapMillis       = 16, 600
	reduces, reduceMillis = 3, 1200
	taskBytes             = 15_000
	expiryMillis          = 1000
	restartMillis         = 300 // until a daemon that is restarted is there again
)

// Report is what came of a plan. Times are ms of virtual time.
type Report struct {
	Played      []string // faults, as the plan has them
	NotModelled []string // faults with reasons
	Result      *sim.Result
	WorkLost    int64  // ms of slots that were lost with machines
	Recovery    int64  // the longest that a lost task waited to run again
	Wrong       string // why jobs will never be over, "" when all are
	Good        bool   // every job succeeded
}

// Run plays a plan with the policy fifo, and looks through the state after every
// change.
func Run(ctx context.Context, plan *chaos.Plan) (*Report, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	r := new(Report)
	cfg := sim.Config{
		Policy: new(fifo.Policy), Nodes: plan.Tasknodes, MapSlots: 2, ReduceSlots: 1, Seed: plan.Seed,
		Expiry: expiryMillis, Heartbeat: 200, CheckInvariants: true,
	}
	for i, f := range plan.Faults {
		failure, err := model(plan, i)
		if err != nil {
			r.NotModelled = append(r.NotModelled, fmt.Sprintf("%v: %v", f, err))
			continue
		}
		r.Played = append(r.Played, f.String())
		cfg.Failures = append(cfg.Failures, failure)
	}
	result, err := sim.Run(ctx, cfg, jobs(plan))
	if errors.Is(err, sim.ErrStuck) {
		r.Result, r.Wrong = new(sim.Result), err.Error()
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.judge(plan, result)
	return r, nil
}

// judge tells what came of the plan. Faults that were due when all was over have hit
// nothing.
func (r *Report) judge(plan *chaos.Plan, result *sim.Result) {
	r.Result, r.Good = result, true
	for _, j := range result.Jobs {
		r.Good = r.Good && j.State == cluster.JobSucceeded
	}
	for _, l := range result.Lost {
		r.WorkLost += l.WorkLost + l.Output
	}
	for _, again := range result.Recovered {
		r.Recovery = max(r.Recovery, again.Wait())
	}
	for _, f := range plan.Faults {
		if i := slices.Index(r.Played, f.String()); i >= 0 && f.When.Event == chaos.AtTime && f.When.At.Milliseconds() > result.End {
			r.Played = slices.Delete(r.Played, i, i+1)
			r.NotModelled = append(r.NotModelled, fmt.Sprintf("%v: its trigger never came", f))
		}
	}
}

// silences are the kinds of faults that nothing is heard of a machine for.
var silences = []chaos.Kind{chaos.Kill, chaos.Restart, chaos.Stop, chaos.Partition}

// model is a fault as a failure of the simulator, or why it is none.
func model(plan *chaos.Plan, i int) (sim.Failure, error) {
	f := plan.Faults[i]
	if !slices.Contains(silences, f.Kind) {
		return sim.Failure{}, fmt.Errorf("%s is not modelled", f.Kind)
	}
	if f.Target.Role != chaos.Tasknode && f.Target.Role != chaos.Machine {
		return sim.Failure{}, fmt.Errorf("the loss of a %s is not modelled", f.Target.Role)
	}
	if (f.Kind == chaos.Stop || f.Kind == chaos.Partition) && f.For > 0 && f.For.Milliseconds() <= expiryMillis {
		return sim.Failure{}, fmt.Errorf("a silence of up to %d ms is not modelled, as nobody is given up for it", expiryMillis)
	}
	n := f.Target.Number()
	if n == 0 {
		n = 1 + int(plan.Seed+uint64(i))%plan.Tasknodes
	}
	out := sim.Failure{Node: n - 1, Back: f.For.Milliseconds()}
	if f.Kind == chaos.Restart {
		out.Back = restartMillis
	}
	switch f.When.Event {
	case chaos.AtTime:
		out.At = f.When.At.Milliseconds()
	case chaos.OfMaps, chaos.OfReduce:
		out.Job, out.Phase, out.Percent = f.When.Job, string(f.When.Event), float64(f.When.N)
	default:
		return out, errors.New("the trigger is not modelled")
	}
	return out, nil
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
			Maps: tasks(maps, mapMillis*time.Millisecond), Reduces: tasks(reduces, reduceMillis*time.Millisecond),
		})
	}
	return w
}
