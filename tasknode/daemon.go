package tasknode

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// Daemon runs the attempts of one machine.
type Daemon struct {
	cfg     Config
	inbox   *syncutil.Mailbox[message]
	workers sync.WaitGroup

	// The loop owns the rest.
	attempts map[string]*attempt     // that have not ended, by id
	unacked  map[string]*wire.Report // final reports that no master has acknowledged, by attempt
	known    map[string]string       // job of every attempt that was ever ordered, so that none is started twice
	retained map[string]string       // records of attempts with segments or checkpoints, by attempt
	copying  map[string]bool         // attempts whose output is being copied from another tasknode
	jobs     map[string]*job
	pending  pendingProgress
	session  Session // nil without a session
	noSlots  bool    // the jobmaster was told that no local directory takes attempts
}

// message is a message to the loop.
type message interface {
	handle(ctx context.Context, n *Daemon)
}

type (
	connected      struct{ session Session }
	disconnected   struct{ session Session }
	joinRequest    struct{ answer chan<- *wire.Report }
	ordered        struct{ orders []*wire.Order }
	reported       struct{ report *wire.Report }
	ended          struct{ attempt *attempt }
	logsAggregated struct{ attempt *attempt }
	copyDropped    struct{ job string }
)

// New makes a daemon. Run runs it.
func New(cfg Config) (*Daemon, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Daemon{
		cfg:      cfg,
		inbox:    syncutil.NewMailbox[message](),
		attempts: make(map[string]*attempt),
		unacked:  make(map[string]*wire.Report),
		known:    make(map[string]string),
		retained: make(map[string]string),
		copying:  make(map[string]bool),
		jobs:     make(map[string]*job),
	}, nil
}

// Run joins the cluster and executes orders until ctx ends or the jobmaster refuses the
// tasknode. Then it kills the running attempts and waits for them. The end of ctx is no
// error.
func (n *Daemon) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer n.workers.Wait()
	defer cancel() // kills the attempts
	n.recoverRetained()
	gone := make(chan error, 1)
	n.workers.Go(func() { gone <- n.stayConnected(ctx) })
	beat, stop := n.heartbeats()
	defer stop()
	for {
		select {
		case <-n.inbox.Ready():
			for _, m := range n.inbox.Take() {
				m.handle(ctx, n)
			}
		case <-n.pending.due:
			n.pending.flush(n.send)
		case <-beat:
			n.pending.flush(n.send)
			n.beat()
			n.reviewSlots()
		case err := <-gone:
			return err
		}
	}
}

func (n *Daemon) heartbeats() (beat <-chan time.Time, stop func()) {
	if n.cfg.Heartbeat == 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(n.cfg.Heartbeat)
	return ticker.C, ticker.Stop
}

// beat sends a heartbeat.
func (n *Daemon) beat() {
	if failpoint.Hit(failpoint.TasknodeHeartbeat) == nil {
		n.send(&wire.Report{Machine: n.cfg.Name, Report: &wire.Report_Heartbeat_{Heartbeat: n.cfg.MachineStatus()}})
	}
}

func (n *Daemon) send(r *wire.Report) {
	if n.session != nil {
		n.session.Send(r)
	}
}

// handle sends a new master all final reports, since an earlier one may not have
// received them.
func (a connected) handle(_ context.Context, n *Daemon) {
	n.session = a.session
	for _, id := range slices.Sorted(maps.Keys(n.unacked)) {
		n.send(n.unacked[id])
	}
}

func (d disconnected) handle(_ context.Context, n *Daemon) {
	if n.session == d.session {
		n.session = nil
	}
}

func (g joinRequest) handle(_ context.Context, n *Daemon) { g.answer <- n.describeMachine() }

// describeMachine is the report that joins the machine to the cluster.
func (n *Daemon) describeMachine() *wire.Report {
	joined := &wire.Report_Joined{
		Address: n.cfg.Address, Http: n.cfg.HTTP, Rack: n.cfg.Rack, Hosts: n.cfg.Hosts, Instance: n.cfg.Instance,
		MapSlots: int32(n.cfg.MapSlots), ReduceSlots: int32(n.cfg.ReduceSlots), Clock: failpoint.Now().UnixMilli(),
		Jobs: slices.Sorted(maps.Keys(n.jobs)), Retained: slices.Sorted(maps.Keys(n.retained)),
		Attempts: slices.Sorted(maps.Keys(n.attempts)),
	}
	if n.noSlots = n.cfg.DirChooser.Check() != nil; n.noSlots {
		joined.MapSlots, joined.ReduceSlots = 0, 0
	}
	joined.Attempts = slices.AppendSeq(joined.Attempts, maps.Keys(n.unacked))
	slices.Sort(joined.Attempts)
	return &wire.Report{Machine: n.cfg.Name, Report: &wire.Report_Joined_{Joined: joined}}
}

// reviewSlots reports to the jobmaster when the local directories stop, or start again,
// to take attempts.
func (n *Daemon) reviewSlots() {
	err := n.cfg.DirChooser.Check()
	if n.noSlots == (err != nil) || n.session == nil {
		return
	}
	n.send(n.describeMachine())
	if err != nil {
		n.cfg.Logger.Error("no slots offered: no local directory takes tasks", "error", err)
		return
	}
	n.cfg.Logger.Info("slots offered again")
}

func (o ordered) handle(ctx context.Context, n *Daemon) {
	for _, order := range o.orders {
		n.execute(ctx, order)
	}
}

func (r reported) handle(_ context.Context, n *Daemon) {
	if r.report.GetProgress() == nil || n.cfg.ProgressDelay == 0 || n.pending.isProbed(r.report.AttemptId) {
		n.send(r.report)
		return
	}
	n.pending.add(r.report, n.cfg.ProgressDelay)
}

// handle keeps the final report of an attempt until it is acknowledged.
func (e ended) handle(_ context.Context, n *Daemon) {
	id := e.attempt.start.AttemptId
	delete(n.attempts, id)
	n.pending.drop(id)
	n.unacked[id] = e.attempt.finalReport
	if e.attempt.retained {
		n.retained[id] = e.attempt.start.LocalDir + recordSuffix
	}
	n.send(e.attempt.finalReport)
}

func (l logsAggregated) handle(_ context.Context, n *Daemon) { n.releaseJob(l.attempt.start.JobId) }

// releaseJob counts one activity of a job less. It removes the files of a job that is
// over after the last one.
func (n *Daemon) releaseJob(job string) {
	j := n.job(job)
	if j.busy--; j.removed {
		n.removeJob(job)
	}
}

// execute executes an order.
func (n *Daemon) execute(ctx context.Context, o *wire.Order) {
	switch o := o.Order.(type) {
	case *wire.Order_Start:
		n.start(ctx, o.Start.Start)
	case *wire.Order_Kill:
		if a := n.attempts[o.Kill.AttemptId]; a != nil {
			a.kill(o.Kill.Cause)
		} else if _, known := n.known[o.Kill.AttemptId]; !known {
			n.rejectStart(jobOf(o.Kill.AttemptId), o.Kill.AttemptId, o.Kill.Cause)
		}
	case *wire.Order_Truncate:
		n.sendTo(o.Truncate.AttemptId, &taskproc.ToTask{Message: &taskproc.ToTask_Truncate{Truncate: &taskproc.Truncate{Position: o.Truncate.Position}}})
	case *wire.Order_Preempt:
		mode := taskproc.Preempt_CHECKPOINT
		if o.Preempt.Split {
			mode = taskproc.Preempt_SPLIT
		}
		n.sendTo(o.Preempt.AttemptId, preemptMessage(mode))
	case *wire.Order_Suspend:
		if a := n.attempts[o.Suspend.AttemptId]; a != nil {
			a.suspend()
		}
	case *wire.Order_Resume:
		if a := n.attempts[o.Resume.AttemptId]; a != nil {
			a.resume()
		}
	case *wire.Order_Outputs_:
		n.addOutputs(o.Outputs)
	case *wire.Order_RemoveJob_:
		n.cfg.OnRemoveJob(o.RemoveJob.JobId)
		n.removeJob(o.RemoveJob.JobId)
	case *wire.Order_Acknowledge_:
		delete(n.unacked, o.Acknowledge.AttemptId)
	case *wire.Order_CopyOutput_:
		n.copyOutput(ctx, o.CopyOutput)
	case *wire.Order_DropCopy_:
		n.dropCopy(o.DropCopy.JobId, o.DropCopy.AttemptId)
	case *wire.Order_RequestProgress_:
		n.probe()
	case *wire.Order_ResendReport_:
		n.resendReport(o.ResendReport.AttemptId)
	}
}

func (n *Daemon) start(ctx context.Context, start *taskproc.Start) {
	if _, twice := n.known[start.AttemptId]; twice {
		return
	}
	dir, release, err := n.cfg.DirChooser.Acquire()
	if err != nil {
		n.rejectStart(start.JobId, start.AttemptId, err.Error())
		return
	}
	n.known[start.AttemptId] = start.JobId
	start.LocalDir = filepath.Join(dir, start.JobId, start.AttemptId)
	j := n.job(start.JobId)
	a := newAttempt(n, start, j.readsOf(start))
	n.attempts[start.AttemptId] = a
	j.sendKnownOutputs(a)
	j.busy++
	n.workers.Go(func() {
		a.run(ctx)
		release()
		n.inbox.Put(ended{a})
		a.aggregateLogs(ctx)
		n.inbox.Put(logsAggregated{a})
	})
}

// rejectStart ends an attempt before it starts, which costs its task nothing: no
// directory takes it, or its kill arrived before its start.
func (n *Daemon) rejectStart(job, attempt, cause string) {
	n.known[attempt] = job
	last := &wire.Report{
		Machine: n.cfg.Name, AttemptId: attempt,
		Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{Cause: cause}},
	}
	n.unacked[attempt] = last
	n.send(last)
	n.reviewSlots()
}

// jobOf returns the job of an attempt: attempt_CLUSTER_NUMBER_… belongs to
// job_CLUSTER_NUMBER.
func jobOf(attempt string) string {
	words := strings.SplitN(attempt, "_", 4)
	return strings.Join(append([]string{"job"}, words[1:min(3, len(words))]...), "_")
}

// preemptMessage asks a task to give up its slot and keep its work.
func preemptMessage(mode taskproc.Preempt_Mode) *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{Mode: mode}}}
}

func (n *Daemon) sendTo(attempt string, m *taskproc.ToTask) {
	if a := n.attempts[attempt]; a != nil {
		a.inbox.Put(m)
	}
}

// removeJob removes the local files of a job once its last attempt has ended.
func (n *Daemon) removeJob(id string) {
	j := n.job(id)
	j.removed = true
	if j.busy > 0 {
		return
	}
	for _, dir := range n.cfg.Dirs {
		if err := removeTree(filepath.Join(dir, id)); err != nil {
			n.cfg.Logger.Warn("cannot remove local files of a job", "job", id, "directory", dir, "error", err)
		}
	}
	delete(n.jobs, id)
	for attempt, job := range n.known {
		if job == id {
			delete(n.known, attempt)
			delete(n.retained, attempt)
		}
	}
}
