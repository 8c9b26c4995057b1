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
	wakeAt int64           // when the controller is to be stepped at the latest; 0 for never

	machines   []*machine
	byName     map[string]*machine
	jobs       map[cluster.JobID]*job
	submitted  []*job                         // as they were submitted
	unfinished int                            // jobs that are not over
	attempts   map[cluster.AttemptID]*attempt // that have not left their machine, as far as the master knows
	probes     []int64                        // when all attempts were asked how far they are, ascending

	steps, eventCount int64 // of the controller, and in the world, so far
	idleWakes         int   // times that it was woken for nothing since anything happened
	account           account
	series            series
	err               error // that ends the run
}

// Run plays a workload to its end. It fails when the configuration or the
// workload is faulty, when ctx ends, when the state breaks a rule of its own, and
// when nothing more would happen though jobs are left: then alone there is a result
// too.
func Run(ctx context.Context, cfg Config, w *workload.Workload) (*Result, error) {
	cfg.ensureDefaults()
	faults := errors.Join(cfg.validate(), cfg.validateTriggers(w), w.Validate())
	if cfg.Policy == nil {
		faults = errors.Join(faults, errors.New("sim: no policy"))
	}
	if faults != nil {
		return nil, faults
	}
	b := newBody(cfg, w)
	err := b.runToEnd(ctx)
	if err != nil && !errors.Is(err, ErrStuck) {
		return nil, err
	}
	return b.result(), err
}

// newBody is a cluster at the start of a run, by a configuration with its defaults.
func newBody(cfg Config, w *workload.Workload) *body {
	b := &body{
		cfg: cfg, workload: w, state: cluster.New("sim"), now: epoch, unfinished: len(w.Jobs),
		byName: make(map[string]*machine), jobs: make(map[cluster.JobID]*job),
		attempts: make(map[cluster.AttemptID]*attempt), account: account{pending: make(map[cluster.AttemptID]int)},
	}
	b.masters.isolated, b.masters.elections = make([]int, cfg.Masters), []int64{0}
	if cfg.CheckInvariants || cfg.InjectFaults != nil {
		b.account.finishedRanges = make(map[cluster.AttemptID]dag.Range)
	}
	b.view = b.state.View()
	b.brain = control.New(b.view, cfg.Policy)
	b.brain.UseSoftState(b)
	b.brain.Trace(cfg.OnDecision != nil)
	b.build()
	return b
}

// build plans what comes from outside: machines, their failures, and jobs.
func (b *body) build() {
	b.enqueue(control.Leading{})
	for n := range b.cfg.Machines {
		m := &machine{number: n, name: MachineName(n), rack: fmt.Sprintf("/r%d", n%b.cfg.Racks)}
		m.heartbeatOffset = int64(hashOf(b.cfg.Seed, "heartbeat", n, 0) % uint64(max(b.cfg.Heartbeat, 1)))
		b.machines, b.byName[m.name] = append(b.machines, m), m
		b.startTasknode(m)
	}
	for _, f := range b.cfg.Failures {
		if f.Job == "" {
			b.queue.plan(epoch+f.At, func() { b.failMachine(b.machines[f.Machine], f.BackAfter, false) })
		}
	}
	if b.cfg.InjectFaults != nil {
		b.queue.plan(b.now, b.injectFaults)
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

// enqueue notes an event for the controller's next step.
func (b *body) enqueue(ev control.Event) { b.events = append(b.events, ev) }

func (b *body) request(c cluster.Command) { b.enqueue(control.Requested{Command: c}) }

// maxRounds bounds how often the controller proposes something at one moment.
const maxRounds = 1_000_000

// checkEvery is how many steps apart the end of the context is looked for, and
// those who watch are told.
const checkEvery = 1024

// runToEnd lets happen what is planned until all jobs are over.
func (b *body) runToEnd(ctx context.Context) error {
	for b.unfinished > 0 {
		if err := b.step(); err != nil {
			return err
		}
		if b.err != nil {
			return b.err
		}
		if b.steps%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b.steps%checkEvery == 0 && b.cfg.OnProgress != nil {
			b.cfg.OnProgress(len(b.workload.Jobs)-b.unfinished, b.time())
		}
		if !b.advance() {
			return b.stuckError()
		}
	}
	return nil
}

// maxIdle is how often the policy may have itself woken while nothing is under way
// and do nothing.
const maxIdle = 10_000

// advance lets the next things happen; false when nothing more would.
func (b *body) advance() bool {
	at, planned := b.queue.next()
	b.idleWakes++
	if planned {
		b.idleWakes = 0
	}
	if b.wakeAt != 0 && (!planned || b.wakeAt < at) {
		at, planned = b.wakeAt, b.idleWakes < maxIdle
	}
	if !planned {
		return false
	}
	if at > b.now {
		b.sample()
		b.now = at
	}
	for at, ok := b.queue.next(); ok && at <= b.now; at, ok = b.queue.next() {
		b.eventCount++
		b.queue.pop().do()
	}
	return true
}

// step has the controller deal with what has happened, and the world with what
// it makes of it. What it proposes is in the log at once.
func (b *body) step() error {
	for rounds := 0; b.hasLeader(); rounds++ {
		if rounds == maxRounds {
			return fmt.Errorf("sim: at %d ms the policy proposes without end", b.time())
		}
		events := b.events
		b.events = nil
		out := b.brain.Step(b.now, events)
		b.steps++
		b.wakeAt = out.Wake
		b.reportDecisions(out.Decisions)
		for _, o := range out.Orders {
			b.deliver(o)
		}
		for _, w := range out.Work {
			b.perform(w)
		}
		if len(out.Commands) > 0 {
			if err := b.appendLog(out.Commands); err != nil {
				return err
			}
		}
		if b.masters.writing != nil {
			b.wakeAt = 0 // it proposes nothing before that is in the log
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
		b.notePreemptions(e.Command)
		delta, err := b.state.Apply(e)
		if err == nil {
			b.applyDelta(delta)
		}
		if b.cfg.CheckInvariants {
			if fault := b.checkInvariants(); fault != nil {
				return fmt.Errorf("sim: at %d ms, after %T: %w", b.time(), e.Command, fault)
			}
		}
		done.Results = append(done.Results, control.Result{Entry: e, Delta: delta, Err: err})
	}
	b.enqueue(done)
	return nil
}

// time is the time since the start of the run, in ms.
func (b *body) time() int64 { return b.now - epoch }

// perform does at once what the controller wants done for a job.
func (b *body) perform(w control.Work) {
	switch w.Kind {
	case control.WorkSetUp:
		if err := b.state.Load(w.Job, b.splits(b.jobs[w.Job])); err != nil {
			b.request(cluster.FailJob{Job: w.Job, Cause: err.Error()})
			return
		}
		if b.view.Job(w.Job).State != cluster.JobPrep {
			b.enqueue(control.SplitsLoaded{Job: w.Job})
			return
		}
		b.request(cluster.StartJob{Job: w.Job})
	case control.WorkCommit:
		b.commit(b.jobs[w.Job])
	case control.WorkCleanUp:
		b.request(cluster.CloseJob{Job: w.Job})
	}
}
