package tasknode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// attempt runs one attempt from its start to its final report:
//
//	makeDir ─► launch ─► connect ─► awaitEnd ─► awaitExit ─► buildReport ─► files retained or removed
//	   │          │                    │            │
//	   └─ error: Failed                │            └ no exit within KillGrace: the task is stuck,
//	                                   │              and its stacks are taken
//	                                   └ the task exited or sent its last message,
//	                                     a kill was ordered, or the daemon ends
//
// While the task runs, orders to suspend, resume, truncate or preempt reach it as
// messages. One goroutine runs the attempt; its connection has two more. The loop of
// the daemon only puts messages into the inbox and closes killed.
type attempt struct {
	cfg         *Config         // configuration of the daemon
	daemon      *Daemon         // its inbox receives the reports
	start       *taskproc.Start // the jobmaster's order; LocalDir is chosen by this machine
	limits      Limits
	reads       []int32                             // files that the attempt reads, by their places in the graph's edges, ascending
	inbox       *syncutil.Mailbox[*taskproc.ToTask] // messages for the task
	suspension  suspendState
	profile     profileOrder
	conn        atomic.Pointer[taskConn] // nil before the task is connected
	ending      atomic.Bool              // the task has exited, or is stuck, and the final report is being made
	killed      chan struct{}            // closed when the attempt is ordered to end
	failed      error                    // why the daemon has ended it, nil if it has not; valid after killed is closed
	killOnce    sync.Once                // guards closing killed
	finalReport *wire.Report             // valid after run has returned
	retained    bool                     // its segments or checkpoint are on disk, with a record; valid after run has returned
	progress    latestReport
	declined    latestReport
	preemptions int           // orders to give up the slot; only the loop uses it
	unconfirmed bool          // the masters were restored and have not ordered its start again; only the loop uses it
	declines    int           // declined preemptions that were forwarded; at most preemptions; only the loop uses it
	unkillable  Task          // its process, if it could not be killed; valid after run has returned
	cleaned     chan struct{} // closed when the files that no other task may read are removed
}

func newAttempt(d *Daemon, start *taskproc.Start, reads []int32) *attempt {
	start.SetVersions(d.cfg.Protocol)
	limits, _ := LimitsOf(start) // the launcher reports the error
	return &attempt{cfg: &d.cfg, daemon: d, start: start, limits: limits, reads: reads, inbox: syncutil.NewMailbox[*taskproc.ToTask](), killed: make(chan struct{}), cleaned: make(chan struct{})}
}

// kill orders the attempt to end. The task gets the cause first, and is killed after a grace
// period. kill does not wait, and may be called more than once.
func (a *attempt) kill(cause string) {
	a.killOnce.Do(func() { close(a.killed) }) // before the task can obey: otherwise its end would be a failure
	a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: cause}}})
}

// fail ends the attempt as kill does. The attempt then counts as failed.
func (a *attempt) fail(cause error) {
	a.killOnce.Do(func() { a.failed = cause; close(a.killed) })
	a.kill(cause.Error())
}

// run runs the attempt to its end. Local files stay only if another task may read them, such
// as segments of a map, or a checkpoint. Otherwise the attempt's directory is removed in the
// background, to free the disk; the final report does not wait for that.
func (a *attempt) run(ctx context.Context) {
	// The state already contains the attempt. The report shows the master that the machine
	// executes orders, before the process has started.
	a.send(&wire.Report{Report: &wire.Report_Started_{Started: &wire.Report_Started{}}})
	a.conclude(ctx, a.runTask(ctx))
}

// conclude ends an attempt whose task has ended, given the report about that.
func (a *attempt) conclude(ctx context.Context, last *wire.Report) {
	a.finalReport = a.judgeFullDisk(last)
	if err := checkPlaces(a.start.LocalDir, a.finalReport); err != nil {
		a.finalReport = failure(err)
	}
	a.finalReport.Machine, a.finalReport.AttemptId = a.cfg.Name, a.start.AttemptId
	if hasRetainedFiles(a.finalReport) {
		a.retainFiles(ctx)
		close(a.cleaned)
		return
	}
	a.daemon.remove(a.daemon.diskOf(a.start.LocalDir), []string{a.start.LocalDir}, func() { close(a.cleaned) })
}

// retainFiles writes the record of an attempt whose files are retained. If it has no record,
// the files are lost when the daemon restarts.
func (a *attempt) retainFiles(ctx context.Context) {
	last := a.finalReport
	if err := a.onDisk(ctx, func() error { return writeRecord(a.start.LocalDir, last) }); err != nil {
		a.cfg.Logger.Warn("cannot write the record of an attempt", "attempt", a.start.AttemptId, "error", err)
		return
	}
	a.retained = true
}

// send sends a report to the jobmaster. Without a session the report is lost.
func (a *attempt) send(r *wire.Report) {
	r.Machine, r.AttemptId = a.cfg.Name, a.start.AttemptId
	a.daemon.inbox.Put(func() { a.daemon.reported(r) })
}

// runTask launches the task, waits for its end, and returns the final report.
func (a *attempt) runTask(ctx context.Context) *wire.Report {
	ctx, force := context.WithCancel(ctx)
	defer force()
	err := a.onDisk(ctx, func() error { return a.makeDir(ctx) })
	if errors.Is(err, errDiskHangs) {
		return &wire.Report{Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{Cause: fmt.Sprintf("%s on %s: %v", a.start.LocalDir, a.cfg.Name, err)}}}
	}
	if err != nil {
		return failure(fmt.Errorf("local directory: %w", err))
	}
	task, err := a.launch(ctx)
	if err != nil {
		return failure(fmt.Errorf("launch of the task: %w", err))
	}
	a.suspension.setTask(task)
	return a.follow(ctx, force, task, a.connect(task))
}

// follow waits for the end of a connected task and returns the final report. force kills the
// task after a grace period.
//
// A task that neither exits nor obeys a kill is stuck. A stuck process is killed for its
// stacks, which show where it hangs. A goroutine cannot be killed, so the report says that
// it still runs. A process cannot be killed while it waits in the kernel, for example for a
// broken disk: it costs the machine a slot, and its job nothing.
func (a *attempt) follow(ctx context.Context, force context.CancelFunc, task Task, conn *taskConn) *wire.Report {
	a.awaitEnd(ctx, task, conn)
	a.resume() // a suspended task cannot end
	if a.isKilled() || ctx.Err() != nil {
		force()
	}
	stuck, stack := a.awaitExit(task), ""
	a.ending.Store(true)
	if stuck {
		stack = task.Stack()
		stuck = !isClosed(task.Exited()) // taking the stacks kills a process
		a.cfg.Logger.Warn("task did not obey the order to end", "attempt", a.start.AttemptId, "killed", !stuck, "stack", stack)
	}
	if _, is := task.(Process); is && stuck {
		a.unkillable, stuck = task, false
	}
	conn.close()
	if conn.mismatch != nil && !a.isKilled() {
		r := failure(conn.mismatch)
		r.GetFailed().Fatal = true // every attempt would have the same program
		return r
	}
	if conn.receiveErr != nil && !stuck && !a.isKilled() && ctx.Err() == nil {
		return failure(conn.receiveErr)
	}
	if conn.sendErr != nil && !stuck && conn.lastMessage.GetFinished() == nil && !a.isKilled() && ctx.Err() == nil {
		return failure(conn.sendErr)
	}
	return a.buildReport(ctx, task, conn.lastMessage, stuck, stack)
}

// errDiskHangs is the error of an operation that has not ended when its attempt has to end.
var errDiskHangs = errors.New("the disk does not answer")

// onDisk calls f, which waits for the disk of the attempt. When the attempt is ordered to end,
// f has KillGrace to return. After that onDisk returns errDiskHangs, and f may still run: the
// job must not wait for a disk that hangs.
func (a *attempt) onDisk(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	a.daemon.diskUsers.Go(func() { done <- f() })
	select {
	case err := <-done:
		return err
	case <-a.killed:
	case <-ctx.Done():
	}
	timer := time.NewTimer(a.cfg.KillGrace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errDiskHangs
	}
}

// makeDir makes the attempt's directory for local files, and those above it if it is the first
// there. When the task is launched, its user
// gets access to the directory. An attempt also runs if the log directory of its job cannot be
// noted.
func (a *attempt) makeDir(ctx context.Context) error {
	if err := failpoint.Disk(ctx, "mkdir", a.start.LocalDir); err != nil {
		return err
	}
	if err := os.MkdirAll(a.start.LocalDir, 0o700); err != nil {
		return err
	}
	if err := writeLogDir(taskdir.JobDir(a.start.LocalDir), a.start.LogDir); err != nil {
		a.cfg.Logger.Warn("cannot write the log directory of a job", "job", a.start.JobId, "error", err)
	}
	return nil
}

// launch starts the task. A drill can make it fail.
func (a *attempt) launch(ctx context.Context) (Task, error) {
	if err := failpoint.Hit(failpoint.TasknodeLaunch); err != nil {
		return nil, err
	}
	return a.cfg.Launcher.Launch(ctx, a.start)
}

// awaitEnd waits until the task has exited or sent its last message, or until the attempt
// must end.
func (a *attempt) awaitEnd(ctx context.Context, task Task, conn *taskConn) {
	select {
	case <-task.Exited():
		<-conn.ended
	case <-conn.ended:
	case <-a.killed:
	case <-ctx.Done():
	}
}

// awaitExit waits for the exit of a task that has no more work, and reports whether the task
// is stuck.
func (a *attempt) awaitExit(task Task) (stuck bool) {
	timer := time.NewTimer(a.cfg.KillGrace)
	defer timer.Stop()
	select {
	case <-task.Exited():
		return false
	case <-timer.C:
		return true
	}
}

// buildReport makes the final report from the task's last message, nil if the task sent
// none. A kill overrides a failure, because killing a task may make it fail.
func (a *attempt) buildReport(ctx context.Context, task Task, last *taskproc.FromTask, stuck bool, stack string) *wire.Report {
	switch m := last.GetMessage().(type) {
	case *taskproc.FromTask_Finished:
		return &wire.Report{Report: &wire.Report_Finished{Finished: m.Finished}}
	case *taskproc.FromTask_Checkpointed:
		return &wire.Report{Report: &wire.Report_Checkpointed{Checkpointed: m.Checkpointed}}
	case *taskproc.FromTask_Failure:
		if !a.isKilled() {
			return &wire.Report{Report: &wire.Report_Failed{Failed: m.Failure}}
		}
	}
	if a.isKilled() && a.failed != nil {
		return failure(a.failed)
	}
	if a.unkillable != nil {
		return &wire.Report{Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{
			Cause: "its process on " + a.cfg.Name + " cannot be killed: it waits in the kernel, perhaps for a broken disk",
		}}}
	}
	if stuck {
		if stack == "" {
			stack = "(no stack)"
		}
		return &wire.Report{Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{StuckStack: stack}}}
	}
	if _, killed := last.GetMessage().(*taskproc.FromTask_Exited); killed || a.isKilled() {
		return &wire.Report{Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{Cause: last.GetExited().GetCause()}}}
	}
	r := failure(a.endedWithoutResult(task))
	if l, ok := task.(interface{ LogTail() string }); ok {
		r.GetFailed().Log = l.LogTail()
	}
	return r
}

// endedWithoutResult returns the error of a task that sent no last message.
func (a *attempt) endedWithoutResult(task Task) error {
	if err := task.Err(); err != nil {
		return fmt.Errorf("the task ended without a result: %w", err)
	}
	return errors.New("the task ended without a result")
}

func (a *attempt) isKilled() bool { return isClosed(a.killed) }

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// failure returns a report of an error that the task has not reported itself.
func failure(err error) *wire.Report {
	f := &taskproc.Failure{Cause: err.Error(), Offset: -1, StorageDown: storage.Unavailable(err)}
	var crash *Crash
	if errors.As(err, &crash) {
		f.Cause, f.Stack = crash.Cause, crash.Stack
	}
	return &wire.Report{Report: &wire.Report_Failed{Failed: f}}
}
