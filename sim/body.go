package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sim/workload"
)

// epoch is the time of the state at which a run begins, since 0 stands there for
// "not yet".
const epoch = 1000

// body is the world around a controller.
type body struct {
	cfg      Config
	workload *workload.Workload
	state    *cluster.State
	view     cluster.View
	brain    *control.Controller
	masters  masters

	now    int64 // of the state's clock
	queue  queue
	events []control.Event // that happened now
	wake   int64           // when the controller is to be stepped at the latest; 0 for never

	machines []*machine
	byName   map[string]*machine
	jobs     map[cluster.JobID]*job
	order    []*job                         // as they were submitted
	left     int                            // jobs that are not over
	attempts map[cluster.AttemptID]*attempt // that have not left their machine, as far as the master knows
	probes   []int64                        // when all attempts were asked how far they are, ascending

	steps, happened int64 // of the controller, and in the world, so far
	idle            int   // times that it was woken for nothing since anything happened
	account         account
	series          series
	fault           error // that ends the run
}

// Run plays a workload to its end. It fails when the configuration or the
// workload is faulty, when ctx ends, when the state breaks a rule of its own, and
// when nothing more would happen though jobs are left: then alone there is a result
// too.
func Run(ctx context.Context, cfg Config, w *workload.Workload) (*Result, error) {
	cfg.ensureDefaults()
	faults := errors.Join(cfg.check(), cfg.checkTriggers(w), w.Check())
	if cfg.Policy == nil {
		faults = errors.Join(faults, errors.New("sim: no policy"))
	}
	if faults != nil {
		return nil, faults
	}
	b := newBody(cfg, w)
	err := b.play(ctx)
	if err != nil && !errors.Is(err, ErrStuck) {
		return nil, err
	}
	return b.result(), err
}

// newBody is a cluster at the start of a run, by a configuration with its defaults.
func newBody(cfg Config, w *workload.Workload) *body {
	b := &body{
		cfg: cfg, workload: w, state: cluster.New("sim"), now: epoch, left: len(w.Jobs),
		byName: make(map[string]*machine), jobs: make(map[cluster.JobID]*job),
		attempts: make(map[cluster.AttemptID]*attempt), account: account{asked: make(map[cluster.AttemptID]int)},
	}
	b.masters.away, b.masters.leads = make([]int, cfg.Masters), []int64{0}
	if cfg.CheckInvariants || cfg.Disturb != nil {
		b.account.did = make(map[cluster.AttemptID]dag.Range)
	}
	b.view = b.state.View()
	b.brain = control.New(b.view, cfg.Policy)
	b.brain.Rely(b)
	b.brain.Trace(cfg.Decisions != nil)
	b.build()
	return b
}

// build plans what comes from outside: machines, their failures, and jobs.
func (b *body) build() {
	b.hear(control.Leading{})
	for n := range b.cfg.Nodes {
		m := &machine{number: n, name: MachineName(n), rack: fmt.Sprintf("/r%d", n%b.cfg.Racks)}
		m.phase = int64(noise(b.cfg.Seed, "heartbeat", n, 0) % uint64(max(b.cfg.Heartbeat, 1)))
		b.machines, b.byName[m.name] = append(b.machines, m), m
		b.join(m)
	}
	for _, f := range b.cfg.Failures {
		if f.Job == "" {
			b.queue.plan(epoch+f.At, func() { b.fail(b.machines[f.Node], f.Back, false) })
		}
	}
	if b.cfg.Disturb != nil {
		b.queue.plan(b.now, b.disturb)
	}
	pools := []string{cluster.DefaultPool}
	for i := range b.workload.Jobs {
		j := &b.workload.Jobs[i]
		if j.Pool != "" {
			pools = append(pools, j.Pool)
		}
		b.queue.plan(epoch+j.Submit, func() { b.submit(j) })
	}
	b.request(cluster.SetPools{Names: pools})
}

// hear notes an event for the controller's next step.
func (b *body) hear(ev control.Event) { b.events = append(b.events, ev) }

func (b *body) request(c cluster.Command) { b.hear(control.Requested{Command: c}) }

// maxRounds bounds how often the controller proposes something at one moment.
const maxRounds = 1_000_000

// checkEvery is how many steps apart the end of the context is looked for, and
// those who watch are told.
const checkEvery = 1024

// play lets happen what is planned until all jobs are over.
func (b *body) play(ctx context.Context) error {
	for b.left > 0 {
		if err := b.step(); err != nil {
			return err
		}
		if b.fault != nil {
			return b.fault
		}
		if b.steps%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b.steps%checkEvery == 0 && b.cfg.Watch != nil {
			b.cfg.Watch(len(b.workload.Jobs)-b.left, b.time())
		}
		if !b.moveOn() {
			return b.stuck()
		}
	}
	return nil
}

// maxIdle is how often the policy may have itself woken while nothing is under way
// and do nothing.
const maxIdle = 10_000

// moveOn lets the next things happen; false when nothing more would.
func (b *body) moveOn() bool {
	at, planned := b.queue.next()
	b.idle++
	if planned {
		b.idle = 0
	}
	if b.wake != 0 && (!planned || b.wake < at) {
		at, planned = b.wake, b.idle < maxIdle
	}
	if !planned {
		return false
	}
	if at > b.now {
		b.sample()
		b.now = at
	}
	for at, ok := b.queue.next(); ok && at <= b.now; at, ok = b.queue.next() {
		b.happened++
		b.queue.pop().do()
	}
	return true
}

// step has the controller deal with what has happened, and the world with what
// it makes of it. What it proposes is in the log at once.
func (b *body) step() error {
	for rounds := 0; b.led(); rounds++ {
		if rounds == maxRounds {
			return fmt.Errorf("sim: at %d ms the policy proposes without end", b.time())
		}
		events := b.events
		b.events = nil
		out := b.brain.Step(b.now, events)
		b.steps++
		b.wake = out.Wake
		b.tell(out.Decisions)
		for _, o := range out.Orders {
			b.obey(o)
		}
		for _, w := range out.Work {
			b.work(w)
		}
		if len(out.Commands) > 0 {
			if err := b.write(out.Commands); err != nil {
				return err
			}
		}
		if b.masters.writing != nil {
			b.wake = 0 // it proposes nothing before that is in the log
		}
		if len(b.events) == 0 {
			return nil
		}
	}
	return nil
}

// apply puts a batch into the state.
func (b *body) apply(batch []cluster.Entry) error {
	var done control.Applied
	for _, e := range batch {
		b.observe(e.Command)
		delta, err := b.state.Apply(e)
		if err == nil {
			b.follow(delta)
		}
		if b.cfg.CheckInvariants {
			if fault := b.checkInvariants(); fault != nil {
				return fmt.Errorf("sim: at %d ms, after %T: %w", b.time(), e.Command, fault)
			}
		}
		done.Results = append(done.Results, control.Result{Entry: e, Delta: delta, Err: err})
	}
	b.hear(done)
	return nil
}

// time is the time since the start of the run, in ms.
func (b *body) time() int64 { return b.now - epoch }

// work does at once what the controller wants done for a job.
func (b *body) work(w control.Work) {
	switch w.Kind {
	case control.WorkSetUp:
		if err := b.state.Load(w.Job, b.splits(b.jobs[w.Job])); err != nil {
			b.request(cluster.FailJob{Job: w.Job, Cause: err.Error()})
			return
		}
		if b.view.Job(w.Job).State != cluster.JobPrep {
			b.hear(control.SplitsLoaded{Job: w.Job})
			return
		}
		b.request(cluster.StartJob{Job: w.Job})
	case control.WorkCommit:
		b.commit(b.jobs[w.Job])
	case control.WorkCleanUp:
		b.request(cluster.CloseJob{Job: w.Job})
	}
}
