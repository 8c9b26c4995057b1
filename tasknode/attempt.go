package tasknode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/mailbox"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// attempt sees one attempt through from start to report.
type attempt struct {
	cfg   *Config
	node  *mailbox.Mailbox[message]
	start *taskproc.Start
	reads []int32                            // places in the graph's edges of the files that it reads, ascending
	inbox *mailbox.Mailbox[*taskproc.ToTask] // to be passed on to the task
	still stillness
	told  chan struct{} // closed when the attempt is to end
	once  sync.Once     // closes told
	last  *wire.Report  // how it ended; holds once run has returned
	held  bool          // its segments or its checkpoint are there, with a record; likewise
}

func newAttempt(n *Node, start *taskproc.Start) *attempt {
	return &attempt{cfg: &n.cfg, node: n.inbox, start: start, reads: taskproc.FileInputs(start), inbox: mailbox.New[*taskproc.ToTask](), told: make(chan struct{})}
}

// kill tells the attempt to end. The task hears the cause first; force follows.
func (a *attempt) kill(cause string) {
	a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: cause}}})
	a.once.Do(func() { close(a.told) })
}

// run runs the attempt to its end.
func (a *attempt) run(ctx context.Context) {
	a.report(&wire.Report{Report: &wire.Report_Started_{Started: &wire.Report_Started{}}})
	a.last = a.attend(ctx)
	a.last.Machine, a.last.AttemptId = a.cfg.Name, a.start.AttemptId
	if isWanted(a.last) {
		a.keepFiles()
		return
	}
	if err := os.RemoveAll(a.start.LocalDir); err != nil {
		a.cfg.Logger.Warn("local files of an attempt stay", "attempt", a.start.AttemptId, "error", err)
	}
}

// keepFiles leaves the record of an attempt whose files are wanted. Without it
// all goes well until the node is started again.
func (a *attempt) keepFiles() {
	if err := writeHeld(a.start.LocalDir, a.last); err != nil {
		a.cfg.Logger.Warn("what an attempt left will not be found after a restart", "attempt", a.start.AttemptId, "error", err)
		return
	}
	a.held = true
}

// logTime bounds how long the logs of an attempt may take to be kept.
const logTime = time.Minute

// keepLogs keeps the logs, also when the node is about to end.
func (a *attempt) keepLogs(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTime)
	defer cancel()
	if err := a.cfg.KeepLogs(ctx, a.start); err != nil {
		a.cfg.Logger.Warn("logs of an attempt are not kept", "attempt", a.start.AttemptId, "error", err)
	}
}

// report tells the jobmaster what happens meanwhile, if there is one to hear it.
func (a *attempt) report(r *wire.Report) {
	r.Machine, r.AttemptId = a.cfg.Name, a.start.AttemptId
	a.node.Put(reported{r})
}

// attend launches the task, stays with it to its end, and returns the report
// about that.
func (a *attempt) attend(ctx context.Context) *wire.Report {
	ctx, force := context.WithCancel(ctx)
	defer force()
	if err := a.makeDir(ctx); err != nil {
		return failure(fmt.Errorf("local directory: %w", err))
	}
	task, err := a.launch(ctx)
	if err != nil {
		return failure(fmt.Errorf("launch of the task: %w", err))
	}
	a.still.launched(task)
	talk := a.talk(task)
	a.wait(ctx, task, talk)
	a.resume() // what stands still does not end
	if a.isTold() || ctx.Err() != nil {
		force()
	}
	stuck, stack := a.grace(task), ""
	if stuck {
		stack = task.Stack()
		stuck = !isClosed(task.Gone()) // a process is ended by that
		a.cfg.Logger.Warn("a task that was told to end did not", "attempt", a.start.AttemptId, "ended by force", !stuck, "stack", stack)
	}
	talk.hangUp()
	return a.verdict(ctx, task, talk.last, stuck, stack)
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

// wait returns when the task is gone, has said its last word, or is to end.
func (a *attempt) wait(ctx context.Context, task Task, talk *talk) {
	select {
	case <-task.Gone():
		<-talk.ended
	case <-talk.ended:
	case <-a.told:
	case <-ctx.Done():
	}
}

// grace waits for the end of a task that has nothing more to do, and reports
// whether it does not end.
func (a *attempt) grace(task Task) (stuck bool) {
	timer := time.NewTimer(a.cfg.KillGrace)
	defer timer.Stop()
	select {
	case <-task.Gone():
		return false
	case <-timer.C:
		return true
	}
}

// verdict is the report about an attempt after its last word, which is nil when
// it had none.
func (a *attempt) verdict(ctx context.Context, task Task, last *taskproc.FromTask, stuck bool, stack string) *wire.Report {
	switch m := last.GetMessage().(type) {
	case *taskproc.FromTask_Done:
		return &wire.Report{Report: &wire.Report_Done{Done: m.Done}}
	case *taskproc.FromTask_Paused:
		return &wire.Report{Report: &wire.Report_Paused{Paused: m.Paused}}
	case *taskproc.FromTask_Failure:
		if !a.isTold() {
			return &wire.Report{Report: &wire.Report_Failure{Failure: m.Failure}}
		}
	}
	if stuck {
		if stack == "" {
			stack = "(where it stands is not known)"
		}
		return &wire.Report{Report: &wire.Report_Killed_{Killed: &wire.Report_Killed{StuckStack: stack}}}
	}
	if _, killed := last.GetMessage().(*taskproc.FromTask_Killed); killed || a.isTold() {
		return &wire.Report{Report: &wire.Report_Killed_{Killed: &wire.Report_Killed{Cause: last.GetKilled().GetCause()}}}
	}
	r := failure(a.endedWithoutResult(task))
	if l, ok := task.(interface{ LogTail() string }); ok {
		r.GetFailure().Log = l.LogTail()
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

func (a *attempt) isTold() bool { return isClosed(a.told) }

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
	return &wire.Report{Report: &wire.Report_Failure{Failure: f}}
}
