package tasknode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// attempt sees one attempt through from start to report.
type attempt struct {
	cfg         *Config
	daemon      *syncutil.Mailbox[message]
	start       *taskproc.Start
	reads       []int32                             // places in the graph's edges of the files that it reads, ascending
	inbox       *syncutil.Mailbox[*taskproc.ToTask] // to be passed on to the task
	suspension  suspendState
	killed      chan struct{} // closed when the attempt is to end
	killOnce    sync.Once     // closes told
	finalReport *wire.Report  // how it ended; holds once run has returned
	retained    bool          // its segments or its checkpoint are there, with a record; likewise
}

func newAttempt(n *Daemon, start *taskproc.Start) *attempt {
	return &attempt{cfg: &n.cfg, daemon: n.inbox, start: start, reads: taskproc.FileInputs(start), inbox: syncutil.NewMailbox[*taskproc.ToTask](), killed: make(chan struct{})}
}

// kill tells the attempt to end. The task hears the cause first; force follows.
func (a *attempt) kill(cause string) {
	a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: cause}}})
	a.killOnce.Do(func() { close(a.killed) })
}

// run runs the attempt to its end.
func (a *attempt) run(ctx context.Context) {
	a.send(&wire.Report{Report: &wire.Report_Started_{Started: &wire.Report_Started{}}})
	a.finalReport = a.runTask(ctx)
	a.finalReport.Machine, a.finalReport.AttemptId = a.cfg.Name, a.start.AttemptId
	if hasRetainedFiles(a.finalReport) {
		a.retainFiles()
		return
	}
	if err := os.RemoveAll(a.start.LocalDir); err != nil {
		a.cfg.Logger.Warn("local files of an attempt stay", "attempt", a.start.AttemptId, "error", err)
	}
}

// retainFiles leaves the record of an attempt whose files are wanted. Without it
// all goes well until the node is started again.
func (a *attempt) retainFiles() {
	if err := writeRecord(a.start.LocalDir, a.finalReport); err != nil {
		a.cfg.Logger.Warn("what an attempt left will not be found after a restart", "attempt", a.start.AttemptId, "error", err)
		return
	}
	a.retained = true
}

// logTimeout bounds how long the logs of an attempt may take to be kept.
const logTimeout = time.Minute

// aggregateLogs keeps the logs, also when the node is about to end.
func (a *attempt) aggregateLogs(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTimeout)
	defer cancel()
	if err := a.cfg.AggregateLogs(ctx, a.start); err != nil {
		a.cfg.Logger.Warn("logs of an attempt are not kept", "attempt", a.start.AttemptId, "error", err)
	}
}

// send tells the jobmaster what happens meanwhile, if there is one to hear it.
func (a *attempt) send(r *wire.Report) {
	r.Machine, r.AttemptId = a.cfg.Name, a.start.AttemptId
	a.daemon.Put(reported{r})
}

// runTask launches the task, stays with it to its end, and returns the report
// about that.
func (a *attempt) runTask(ctx context.Context) *wire.Report {
	ctx, force := context.WithCancel(ctx)
	defer force()
	if err := a.makeDir(ctx); err != nil {
		return failure(fmt.Errorf("local directory: %w", err))
	}
	task, err := a.launch(ctx)
	if err != nil {
		return failure(fmt.Errorf("launch of the task: %w", err))
	}
	a.suspension.setTask(task)
	talk := a.connect(task)
	a.awaitEnd(ctx, task, talk)
	a.resume() // what stands still does not end
	if a.isKilled() || ctx.Err() != nil {
		force()
	}
	stuck, stack := a.awaitExit(task), ""
	if stuck {
		stack = task.Stack()
		stuck = !isClosed(task.Exited()) // a process is ended by that
		a.cfg.Logger.Warn("a task that was told to end did not", "attempt", a.start.AttemptId, "ended by force", !stuck, "stack", stack)
	}
	talk.close()
	return a.buildReport(ctx, task, talk.lastMessage, stuck, stack)
}

func (a *attempt) makeDir(ctx context.Context) error {
	if err := failpoint.Disk(ctx, "mkdir", a.start.LocalDir); err != nil {
		return err
	}
	return os.MkdirAll(a.start.LocalDir, 0o700)
}

func (a *attempt) launch(ctx context.Context) (Task, error) {
	if err := failpoint.Hit(failpoint.TasknodeLaunch); err != nil {
		return nil, err
	}
	return a.cfg.Launcher.Launch(ctx, a.start)
}

// awaitEnd returns when the task is gone, has said its last word, or is to end.
func (a *attempt) awaitEnd(ctx context.Context, task Task, talk *taskConn) {
	select {
	case <-task.Exited():
		<-talk.ended
	case <-talk.ended:
	case <-a.killed:
	case <-ctx.Done():
	}
}

// awaitExit waits for the end of a task that has nothing more to do, and reports
// whether it does not end.
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

// buildReport is the report about an attempt after its last word, which is nil when
// it had none.
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
	if stuck {
		if stack == "" {
			stack = "(where it stands is not known)"
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

// endedWithoutResult is why a task said nothing at its end.
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

// failure reports an attempt that failed outside the task's own account.
func failure(err error) *wire.Report {
	f := &taskproc.Failure{Cause: err.Error(), Offset: -1}
	var crash *Crash
	if errors.As(err, &crash) {
		f.Cause, f.Stack = crash.Cause, crash.Stack
	}
	return &wire.Report{Report: &wire.Report_Failed{Failed: f}}
}
