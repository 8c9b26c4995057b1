package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim/workload"
)

// epoch is the state's time at the start of a run. It is not 0, because 0 means "not yet"
// there.
const epoch = 1000

// body is what surrounds a controller: machines, attempts, the log and the clock. Everything
// runs in one goroutine, driven by the queue of planned actions.
//
//	advance ─► planned actions ─► events ─► step ─► control.Controller ─► commands ─► apply ─► applyDelta
//	   ▲                                     └────► orders ─► deliver ─► attempts plan actions
//	   └──────────────────────────── until no job is unfinished ◄──────────────────┘
type body struct {
	cfg      Config
	workload *workload.Workload
	state    *cluster.State
	view     cluster.View
	brain    *control.Controller
	masters  masters

	now    int64 // by the state's clock
	queue  queue
	events []control.Event // of this moment, for the next step
	wakeAt int64           // the controller wants a step then at the latest; 0 for never

	machines   []*machine
	byName     map[string]*machine
	jobs       map[cluster.JobID]*job
	submitted  []*job                         // in order of submission
	unfinished int                            // number of jobs
	attempts   map[cluster.AttemptID]*attempt // attempts that the master believes to be on a machine
	probes     []int64                        // when all attempts were asked for their progress, ascending

	steps, eventCount int64 // steps of the controller, actions of the model
	idleWakes         int   // controller steps since the last action of the model
	account           account
	series            series
	userShares        userShares
	err               error // ends the run
}

// Run simulates a workload to its end. It returns an error if the configuration or the
// workload is invalid, if ctx ends, or if the state violates an invariant. If nothing more
// would happen although jobs are left, it returns the result so far and an error that wraps
// ErrStuck.
func Run(ctx context.Context, cfg Config, w *workload.Workload) (*Result, error) {
	cfg.ensureDefaults()
	err := errors.Join(cfg.validate(), cfg.validateTriggers(w), cfg.validateMemory(w), w.Validate())
	if cfg.Policy == nil {
		err = errors.Join(err, errors.New("sim: no policy"))
	}
	if err != nil {
		return nil, err
	}
	b := newBody(cfg, w)
	err = b.runToEnd(ctx)
	if err != nil && !errors.Is(err, ErrStuck) {
		return nil, err
	}
	return b.result(), err
}

// newBody returns a cluster at the start of a run. The configuration has its defaults.
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

// build plans everything that comes from outside: machines, their failures, and jobs. Jobs
// and failures with a time are planned here; a failure that waits for progress is planned
// when its job reaches it.
func (b *body) build() {
	b.enqueue(control.Leading{})
	for n := range b.cfg.Machines {
		m := &machine{number: n, name: MachineName(n), rack: fmt.Sprintf("/r%d", n%b.cfg.Racks)}
		// The word in the hash decides the times of all reports: another one changes results.
		m.reportOffset = int64(hashOf(b.cfg.Seed, "heartbeat", n, 0) % uint64(max(b.cfg.ReportInterval, 1)))
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

// enqueue adds an event to the input of the controller's next step.
func (b *body) enqueue(ev control.Event) { b.events = append(b.events, ev) }

func (b *body) request(c cluster.Command) { b.enqueue(control.Requested{Command: c}) }

// maxRounds limits the proposals of one moment, so that a faulty policy does not run for
// ever.
const maxRounds = 1_000_000

// checkEvery is the number of steps between checks of the context and calls of OnProgress.
const checkEvery = 1024

// runToEnd runs until every job has finished.
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

// maxIdle limits the wake-ups of a policy that changes nothing while no action is planned.
const maxIdle = 10_000

// advance runs the next planned actions. It returns false if nothing more would happen.
//
// Time jumps to the next planned action or to the controller's next wake-up, whichever is
// first. Samples of the series are taken before time moves, so that a moment has one value.
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

// step passes events to the controller and carries out its output, until no event is left.
// Commands are in the log at once.
//
// A controller may propose commands again after its last ones are applied, so it is stepped
// until it has nothing to say. Without a leader events wait.
func (b *body) step() error {
	for rounds := 0; b.hasLeader(); rounds++ {
		if rounds == maxRounds {
			return fmt.Errorf("sim: at %d ms the policy makes proposals without end", b.time())
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
			b.wakeAt = 0 // no proposals until the batch is in the log
		}
		if len(b.events) == 0 {
			return nil
		}
	}
	return nil
}

// apply applies a batch to the state and to the model. If the state refuses an entry, only
// that entry has an error, as on a real master.
func (b *body) apply(batch []cluster.Entry) error {
	var done control.Applied
	if b.cfg.OnEntries != nil {
		if err := b.cfg.OnEntries(batch); err != nil {
			return err
		}
	}
	for _, e := range batch {
		b.notePreemptions(e.Command)
		var stack string
		delta, err := b.state.ApplyContained(e, func(v any) { stack = fmt.Sprintf("%v\n%s", v, debug.Stack()) })
		if errors.Is(err, cluster.ErrInternal) {
			return fmt.Errorf("sim: at %d ms: %w; please report it: %s", b.time(), err, stack)
		}
		if err == nil {
			b.applyDelta(delta)
		}
		if b.cfg.CheckInvariants {
			if err := b.checkInvariants(); err != nil {
				return fmt.Errorf("sim: at %d ms, after %T: %w", b.time(), e.Command, err)
			}
		}
		done.Results = append(done.Results, control.Result{Entry: e, Delta: delta, Err: err})
	}
	b.enqueue(done)
	return nil
}

// time returns the time since the start of the run, in ms.
func (b *body) time() int64 { return b.now - epoch }

// perform does the controller's work for a job at once. On a real master this work does I/O
// and takes time; here splits are computed, and clean-up is free. A commit takes
// Config.CommitTime a part.
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

// reportDecisions passes decisions to OnDecision, in the time of the run.
func (b *body) reportDecisions(decisions []sched.Decision) {
	for _, d := range decisions {
		d.At -= epoch
		if d.Until != 0 {
			d.Until -= epoch
		}
		b.cfg.OnDecision(d)
	}
}
