// Package simulate plays plans of package chaos in the simulator: the same brain
// and state as in a real cluster, machines and tasks that are modelled, and time
// that is a number.
//
//	report, err := simulate.Run(ctx, plan)
//
// Losses of tasknodes and machines are modelled; everything else is reported as
// not modelled. There are no goroutines.
package simulate

import (
	"context"
	"errors"
	"fmt"
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
	Good        bool // every job succeeded
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
	var err error
	if r.Result, err = sim.Run(ctx, cfg, jobs(plan)); err != nil {
		return nil, err
	}
	r.Good = true
	for _, j := range r.Result.Jobs {
		r.Good = r.Good && j.State == cluster.JobSucceeded
	}
	return r, nil
}

// model is a fault as a failure of the simulator, or why it is none.
func model(plan *chaos.Plan, i int) (sim.Failure, error) {
	f := plan.Faults[i]
	if f.Kind != chaos.Kill && f.Kind != chaos.Restart {
		return sim.Failure{}, fmt.Errorf("%s is not modelled", f.Kind)
	}
	if f.Target.Role != chaos.Tasknode && f.Target.Role != chaos.Machine {
		return sim.Failure{}, fmt.Errorf("the loss of a %s is not modelled", f.Target.Role)
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
