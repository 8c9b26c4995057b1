package tasknode

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Daemon runs the attempts of one machine.
//
// Run is a loop, and only the loop uses the tables. Other goroutines put functions into its
// inbox: the goroutine of the session does so for orders and connections, and the goroutines
// of attempts do so for reports. The loop waits for no disk, because it also sends the
// heartbeats: what reads or removes local files runs in the workers of the directory. After
// an attempt has ended, its results stay in three tables until no master needs them:
//
//	ordered ──► attempts ── ended ──► unacked ── Acknowledge ──► (nothing)
//	                          └─────► retained, if it left files ── RemoveJob or DropCopy ──► (nothing)
//	            known: from the order until the job is removed
type Daemon struct {
	cfg       Config
	files     localFiles
	inbox     *syncutil.Mailbox[func()] // functions for the loop to call
	workers   sync.WaitGroup            // attempts, copies and the session; Run waits for them
	disks     map[string]*diskWorkers   // workers of each local directory; not changed after the start of Run
	diskUsers sync.WaitGroup            // goroutines of disks; Run waits for them last
	lostSlots atomic.Int64              // number of entries of stuck
	counts    counts                    // attempts so far

	running      context.Context // ends with Run; not changed after the start of Run
	restored     <-chan struct{} // closed when the tables have what an earlier start has left
	aggregations chan struct{}   // has an entry for each job whose logs are being copied

	// Only the loop uses the fields below.
	attempts     map[string]*attempt                    // that have not ended, by id
	unacked      map[string]*wire.Report                // final reports that no master has acknowledged, by attempt
	known        map[string]string                      // job of every attempt that was ever ordered, so that no attempt is started twice
	knownOf      map[string][]string                    // the same attempts by job; may also have some that are not known any more
	retained     map[string]string                      // paths of the records of attempts with segments or checkpoints, by attempt
	copying      map[string]bool                        // attempts whose output is being copied from another tasknode
	reading      map[string][]func(*wire.Report, error) // users of the record of an attempt that is being read
	measuring    map[string]bool                        // local directories in which jobs are being measured
	measureAt    map[string]time.Time                   // before which no jobs are measured, by local directory
	jobs         map[string]*job                        // jobs with attempts, files or outputs on this machine, by id
	pending      PendingProgress                        // progress reports that wait to be sent together
	session      Session                                // nil if there is no session
	stuck        map[string]taskproc.Kind               // kinds of attempts whose processes cannot be killed, by attempt; their slots are not offered
	offered      [2]int32                               // map and reduce slots in the last Joined report
	restores     int32                                  // how often the state of the masters was restored, as the latest session said
	offer        Offer                                  // what the machine offers if all its parts work
	ordersPaused bool                                   // orders are delayed, see HandOver
	delayed      []func()                               // execute the orders that were delayed
}

// New makes a daemon. Run runs it.
func New(cfg Config) (*Daemon, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &Daemon{
		cfg:       cfg,
		files:     osFiles{},
		inbox:     syncutil.NewMailbox[func()](),
		attempts:  make(map[string]*attempt),
		unacked:   make(map[string]*wire.Report),
		known:     make(map[string]string),
		knownOf:   make(map[string][]string),
		retained:  make(map[string]string),
		stuck:     make(map[string]taskproc.Kind),
		copying:   make(map[string]bool),
		reading:   make(map[string][]func(*wire.Report, error)),
		measuring: make(map[string]bool),
		measureAt: make(map[string]time.Time),
		jobs:      make(map[string]*job),
		offer:     cfg.offer(),

		aggregations: make(chan struct{}, maxAggregations),
	}
	d.counts.offeredMB.Store(cfg.MemoryMB)
	return d, nil
}

// Run joins the cluster and executes orders until ctx ends or the jobmaster refuses the
// tasknode. Then it kills the running attempts and waits for them. If ctx ends, it returns
// nil.
func (d *Daemon) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	d.running = ctx
	stopDisks := make(chan struct{})
	d.startDisks(stopDisks)
	defer func() {
		cancel() // kills the attempts
		d.workers.Wait()
		close(stopDisks)
		d.diskUsers.Wait()
	}()
	var err error
	if d.restored, err = d.restore(ctx); err != nil {
		return err
	}
	gone := make(chan error, 1)
	d.workers.Go(func() { gone <- d.stayConnected(ctx, d.restored) })
	beat, stop := ticks(d.cfg.Heartbeat)
	defer stop()
	measure, stopMeasuring := ticks(d.cfg.DiskCheck)
	defer stopMeasuring()
	for {
		select {
		case <-d.inbox.Ready():
			for _, do := range d.inbox.Take() {
				do()
			}
		case <-d.pending.due:
			d.sendJoined(d.pending.Flush(time.Now(), false))
		case <-beat:
			d.beat()
			d.reviewSlots()
		case <-measure:
			d.measureJobs()
		case err := <-gone:
			return err
		}
	}
}

// restore restores the tables: from the program before this one in the same process, or from the
// local directories. The channel is closed when all of them are read.
func (d *Daemon) restore(ctx context.Context) (done <-chan struct{}, err error) {
	if d.cfg.Handover == nil {
		return d.recoverRetained(), nil
	}
	complete := make(chan struct{})
	close(complete)
	return complete, d.restoreHandover(ctx, d.cfg.Handover)
}

// CheckLoop makes the loop call answer. It does not wait.
func (d *Daemon) CheckLoop(answer func()) { d.inbox.Put(answer) }

// ticks returns a channel that yields at each interval. If the interval is 0, the channel is
// nil and never yields.
func ticks(interval time.Duration) (tick <-chan time.Time, stop func()) {
	if interval == 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(interval)
	return ticker.C, ticker.Stop
}

// beat sends a heartbeat with the progress of attempts. A drill can suppress the heartbeat, so
// that the machine looks silent.
func (d *Daemon) beat() {
	reports := d.pending.Flush(time.Now(), true)
	if failpoint.Hit(failpoint.TasknodeHeartbeat) == nil {
		reports = append(reports, &wire.Report{Report: &wire.Report_Heartbeat_{Heartbeat: d.cfg.MachineStatus()}})
	}
	d.sendJoined(reports)
}

// send sends a report to the leading master. Without a session the report is lost. That
// causes no error, because final reports are repeated in the next session and progress is
// soft state.
func (d *Daemon) send(r *wire.Report) {
	if d.session != nil {
		d.session.Send(r)
	}
}

// connected sends all final reports to a new master, because an earlier master may not have
// received them.
func (d *Daemon) connected(session Session) {
	d.session = session
	d.pending.ResendAll()
	for _, id := range slices.Sorted(maps.Keys(d.unacked)) {
		d.send(d.unacked[id])
	}
}

// describeMachine returns the report by which the machine joins the cluster.
//
// It lists the attempts, jobs and retained outputs of this machine. So the master can end
// what is no longer needed. It can also count outputs again that it has declared lost.
func (d *Daemon) describeMachine() *wire.Report {
	joined := &wire.Report_Joined{
		Address: d.cfg.Address, Http: d.cfg.HTTP, Rack: d.offer.Rack, Hosts: d.cfg.Hosts, Instance: d.cfg.Instance,
		MemoryMb: d.offer.MemoryMB, Clock: failpoint.Now().UnixMilli(), JobVersion: taskproc.JobVersion,
		Jobs: slices.Sorted(maps.Keys(d.jobs)), Retained: slices.Sorted(maps.Keys(d.retained)),
		Attempts: slices.Sorted(maps.Keys(d.attempts)),
	}
	d.offered = d.slots()
	joined.MapSlots, joined.ReduceSlots = d.offered[0], d.offered[1]
	joined.Attempts = slices.AppendSeq(joined.Attempts, maps.Keys(d.unacked))
	slices.Sort(joined.Attempts)
	return &wire.Report{Machine: d.cfg.Name, Report: &wire.Report_Joined_{Joined: joined}}
}

// slots returns the map and reduce slots that the machine offers.
//
// A machine whose disks are all full or broken stays in the cluster without slots, because
// it still serves its outputs. A process that cannot be killed keeps its slot.
func (d *Daemon) slots() [2]int32 {
	if d.cfg.DirChooser.Check() != nil {
		return [2]int32{}
	}
	s := [2]int32{int32(d.offer.MapSlots), int32(d.offer.ReduceSlots)}
	for _, kind := range d.stuck {
		i := 1
		if kind == taskproc.Kind_MAP {
			i = 0
		}
		s[i] = max(0, s[i]-1)
	}
	return s
}

// reviewSlots sends another Joined report when the machine offers other slots than before.
func (d *Daemon) reviewSlots() {
	before := d.offered
	if d.session == nil || before == d.slots() {
		return
	}
	d.send(d.describeMachine())
	if err := d.cfg.DirChooser.Check(); err != nil {
		d.cfg.Logger.Error("no slots offered: no local directory takes tasks", "error", err)
		return
	}
	d.cfg.Logger.Info("slots offered changed", "map", d.offered[0], "reduce", d.offered[1], "map_before", before[0], "reduce_before", before[1])
}

// loseSlot stops offering the slot of an attempt whose process cannot be killed, until the
// process has ended.
func (d *Daemon) loseSlot(ctx context.Context, a *attempt) {
	d.loseSlotOf(ctx, a.start.AttemptId, a.start.Kind, a.unkillable)
	d.reviewSlots()
}

func (d *Daemon) loseSlotOf(ctx context.Context, id string, kind taskproc.Kind, unkillable Task) {
	pid := 0
	if p, is := unkillable.(Process); is {
		pid = p.PID()
	}
	d.cfg.Logger.Error("process cannot be killed, its slot is lost until it ends", "machine", d.cfg.Name, "attempt", id, "pid", pid)
	d.stuck[id] = kind
	d.lostSlots.Store(int64(len(d.stuck)))
	d.workers.Go(func() {
		select {
		case <-unkillable.Exited():
		case <-ctx.Done():
		}
		d.inbox.Put(func() {
			delete(d.stuck, id)
			d.lostSlots.Store(int64(len(d.stuck)))
			d.reviewSlots()
		})
	})
}

// LostSlots returns the number of slots that are not offered because a process cannot be
// killed. Any goroutine may call it.
func (d *Daemon) LostSlots() int64 { return d.lostSlots.Load() }

// reported sends a report of a running attempt. A progress report may be sent later.
func (d *Daemon) reported(r *wire.Report) {
	if r.GetProgress() != nil {
		d.progressed(r)
		return
	}
	d.send(r)
}

// ended keeps the final report of an attempt until it is acknowledged. If its process still
// has its slot, the master learns that first, so that it starts nothing in the slot.
func (d *Daemon) ended(ctx context.Context, a *attempt) {
	id := a.start.AttemptId
	if a.unkillable != nil {
		d.loseSlot(ctx, a)
	}
	d.counts.end(a)
	delete(d.attempts, id)
	d.pending.Drop(id)
	d.unacked[id] = a.finalReport
	if a.retained {
		d.retained[id] = a.start.LocalDir + recordSuffix
	}
	d.send(a.finalReport)
}

// execute executes an order. Orders are derived from the state of the master and arrive
// again after each change of leader, so executing an order twice has no further effect. An
// order for an attempt that is not here is ignored. The exception is a kill that arrives
// before its start: the start must then be rejected.
func (d *Daemon) execute(ctx context.Context, o *wire.Order) {
	switch o := o.Order.(type) {
	case *wire.Order_Start:
		d.start(ctx, o.Start.Start)
	case *wire.Order_Kill:
		if a := d.attempts[o.Kill.AttemptId]; a != nil {
			a.kill(o.Kill.Cause)
		} else if job, known := d.known[o.Kill.AttemptId]; known {
			d.repeatEnd(job, o.Kill.AttemptId)
		} else {
			d.rejectStart(jobOf(o.Kill.AttemptId), o.Kill.AttemptId, o.Kill.Cause)
		}
	case *wire.Order_Truncate:
		d.sendTo(o.Truncate.AttemptId, &taskproc.ToTask{Message: &taskproc.ToTask_Truncate{Truncate: &taskproc.Truncate{Position: o.Truncate.Position}}})
	case *wire.Order_Preempt:
		mode := taskproc.Preempt_CHECKPOINT
		if o.Preempt.Split {
			mode = taskproc.Preempt_SPLIT
		}
		d.countPreemption(o.Preempt.AttemptId)
		d.sendTo(o.Preempt.AttemptId, preemptMessage(mode))
	case *wire.Order_Suspend:
		d.countPreemption(o.Suspend.AttemptId)
		if a := d.attempts[o.Suspend.AttemptId]; a != nil {
			a.suspend()
		}
	case *wire.Order_Resume:
		if a := d.attempts[o.Resume.AttemptId]; a != nil {
			a.resume()
		}
	case *wire.Order_Outputs_:
		d.addOutputs(o.Outputs)
	case *wire.Order_RemoveJob_:
		d.cfg.OnRemoveJob(o.RemoveJob.JobId)
		d.removeJob(o.RemoveJob.JobId)
	case *wire.Order_Acknowledge_:
		d.acknowledged(o.Acknowledge.AttemptId)
	case *wire.Order_CopyOutput_:
		d.copyOutput(ctx, o.CopyOutput)
	case *wire.Order_DropCopy_:
		d.dropCopy(o.DropCopy.JobId, o.DropCopy.AttemptId)
	case *wire.Order_Directories_:
		d.noteRestores(o.Directories.Restores)
		d.cfg.OnDirectories(o.Directories.Staging, o.Directories.Logs)
	case *wire.Order_Admission_:
		d.cfg.OnAdmission(o.Admission.Refusal)
	case *wire.Order_SetSlots_:
		d.setSlots(o.SetSlots)
	case *wire.Order_RequestProgress_:
		d.probe()
	case *wire.Order_RequestCounters_:
		d.sendCounters(o.RequestCounters.JobId)
	case *wire.Order_ResendReport_:
		d.resendReport(o.ResendReport.AttemptId)
	}
}

// start starts an attempt, unless it was started before. If it has ended, its end may have to be
// reported again. Its goroutine ends after its unneeded
// files are removed. The job is busy until then, so that its files are not removed.
func (d *Daemon) start(ctx context.Context, start *taskproc.Start) {
	if _, twice := d.known[start.AttemptId]; twice {
		d.startedBefore(start.JobId, start.AttemptId)
		return
	}
	j := d.job(start.JobId)
	if j.removed {
		d.rejectStart(start.JobId, start.AttemptId, "its job is over and its local files are being removed")
		return
	}
	dir, release, err := d.cfg.DirChooser.Acquire()
	if err != nil {
		d.rejectStart(start.JobId, start.AttemptId, err.Error())
		return
	}
	d.addKnown(start.JobId, start.AttemptId)
	start.LocalDir = filepath.Join(dir, start.JobId, taskdir.InJob(start.AttemptId))
	a := newAttempt(d, start, j.readsOf(start))
	j.logDir, j.diskLimit = cmp.Or(start.LogDir, j.logDir), a.limits.DiskBytes
	d.attempts[start.AttemptId] = a
	d.counts.begin(a)
	j.sendKnownOutputs(a)
	d.follow(ctx, a, release, a.run)
}

// follow calls run, which runs an attempt to its end, in a goroutine.
func (d *Daemon) follow(ctx context.Context, a *attempt, release func(), run func(context.Context)) {
	job := a.start.JobId
	d.job(job).busy++
	d.workers.Go(func() {
		run(ctx)
		release()
		d.inbox.Put(func() { d.ended(ctx, a) })
		<-a.cleaned
		d.inbox.Put(func() { d.releaseJob(job) })
	})
}

// rejectStart ends an attempt before it starts, because no directory accepts it or its kill
// has arrived before. This does not count as a try of its task.
func (d *Daemon) rejectStart(job, attempt, cause string) {
	d.addKnown(job, attempt)
	last := &wire.Report{
		Machine: d.cfg.Name, AttemptId: attempt,
		Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{Cause: cause}},
	}
	d.unacked[attempt] = last
	d.counts.countEnd(last)
	d.send(last)
	d.reviewSlots()
}

// acknowledged forgets the final report of an attempt. If nothing else of its job is here, a kill has come after
// the removal of the job, or before its first start, and no start can follow: then it forgets the attempt too.
func (d *Daemon) acknowledged(attempt string) {
	delete(d.unacked, attempt)
	job, known := d.known[attempt]
	if !known || d.jobs[job] != nil {
		return
	}
	delete(d.known, attempt)
	if !slices.ContainsFunc(d.knownOf[job], func(other string) bool { _, known := d.known[other]; return known }) {
		delete(d.knownOf, job)
	}
}

// jobOf returns the job of an attempt: attempt_CLUSTER_NUMBER_… belongs to
// job_CLUSTER_NUMBER.
func jobOf(attempt string) string {
	words := strings.SplitN(attempt, "_", 4)
	return strings.Join(append([]string{"job"}, words[1:min(3, len(words))]...), "_")
}

// preemptMessage returns the message that asks a task to give up its slot and keep its work.
func preemptMessage(mode taskproc.Preempt_Mode) *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{Mode: mode}}}
}

// countPreemption counts an order to give up the slot, which the attempt may decline once.
func (d *Daemon) countPreemption(attempt string) {
	if a := d.attempts[attempt]; a != nil {
		a.preemptions++
	}
}

// sendTo sends a message to the task of an attempt, if the attempt runs. The message waits
// in the attempt's inbox until the task is connected.
func (d *Daemon) sendTo(attempt string, m *taskproc.ToTask) {
	if a := d.attempts[attempt]; a != nil {
		a.inbox.Put(m)
	}
}
