package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// sampleInterval is how often a running attempt reports its progress.
const sampleInterval = 250 * time.Millisecond

// Server runs attempts with the programs of one binary. A task process has one and runs one
// attempt at a time; in the embedded engine all attempts share one.
type Server struct {
	Programs Programs

	// Files opens inputs and outputs.
	Files *storage.Router

	// Local has the attempts' local directories.
	Local storage.FS

	// Log receives the log lines of attempts, each in one Write; nil: none. Failures
	// have the last lines in any case.
	Log io.Writer

	// Channels opens streams to other attempts. nil stands for the servers of their
	// machines, or this process for machines without one.
	Channels Channels

	// Memory is the limit of the process in bytes; 0 if only the machine and the control
	// group limit it.
	Memory int64

	// Sides are the hash tables of side inputs that the attempts share. nil: the Nodes of each
	// attempt share their own.
	Sides *SideTables

	// divides what the process uses among its attempts
	usage counter.Process

	budget     processBudget       // memory beside that of the attempts
	segments   transfer.Sources    // bounds the bytes that reduces request from each machine at once
	rendezvous transfer.Rendezvous // joins streams between attempts of this process
}

// Serve runs the attempt that the tasknode at the other end of conn starts, and returns
// when its last message has been sent. The end of ctx kills the attempt.
func (s *Server) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	messages := taskproc.NewTaskEnd(conn)
	defer messages.Close()
	start, err := messages.ReceiveStart()
	if err != nil {
		return err
	}
	_, err = s.Run(ctx, messages, start)
	return err
}

// Run is Serve for a connection on which Start has been received. It closes the
// connection, and reports whether the attempt has finished.
func (s *Server) Run(ctx context.Context, messages taskproc.TaskEnd, start *taskproc.Start) (done bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &session{conn: messages, cancel: cancel}
	return a.run(ctx, s, start)
}

// session is one attempt's end of its connection. Goroutines: listen reads orders and ends
// with the connection; tick samples progress and ends with the attempt. A single Node runs
// in the goroutine of Serve; several run in one each.
//
//	Serve:   begin ─► prepare ─► group.run ─► last message ─► close the connection
//	listen:    └─ orders, until the connection is closed ──────────────┘
//	tick:                   └─ progress ─────────┘
//
// Orders may come as soon as listen runs, before prepare is done, so begin makes all that
// they touch.
type session struct {
	conn    taskproc.TaskEnd
	cancel  context.CancelCauseFunc // cancels the connection's context
	attempt *Attempt                // set by begin
	group   *groupRun               // set by begin; laid out by prepare
	confErr error                   // error in the properties; then there is no configuration

	// boundary declines a requested checkpoint if no Node comes to a boundary in time. It
	// belongs to listen.
	boundary *time.Timer

	profiles  sync.WaitGroup  // goroutines that take profiles
	profiling context.Context // ends with the attempt
}

// run runs the attempt to its last message. It returns only after its goroutines have ended.
func (s *session) run(ctx context.Context, server *Server, start *taskproc.Start) (done bool, err error) {
	var stopProfiles context.CancelFunc
	s.profiling, stopProfiles = context.WithCancel(ctx)
	defer stopProfiles()
	s.begin(ctx, server, start)
	var workers sync.WaitGroup
	workers.Go(s.listen)
	prog, err := s.prepare(server)
	ended := make(chan struct{})
	workers.Go(func() { s.tick(ended) })

	var last *taskproc.FromTask
	if err == nil {
		last, err = s.measured(&server.usage, func() (*taskproc.FromTask, error) { return s.group.run(ctx, prog) })
		server.budget.logPeak(s.attempt.Logger())
	}
	if last.GetFinished() != nil && err == nil {
		err = failpoint.Hit(failpoint.TaskDone)
	}
	if err != nil {
		last = s.finalMessage(ctx, err)
		s.group.abort()
	}
	close(ended)
	stopProfiles()
	err = s.conn.Send(last)
	if errors.Is(err, taskproc.ErrMessageTooLong) {
		last = s.finalMessage(ctx, &FatalError{Err: fmt.Errorf("report of the attempt: %w; write fewer files", err)})
		s.group.abort()
		err = s.conn.Send(last)
	}
	_ = s.conn.Close() // ends listen
	workers.Wait()
	s.profiles.Wait()
	s.boundary.Stop()
	return last.GetFinished() != nil, err
}

// measured adds the resource usage of a finished attempt to its counters. If the user's code
// has made too many counters, the attempt fails here at the latest.
func (s *session) measured(usage *counter.Process, run func() (*taskproc.FromTask, error)) (*taskproc.FromTask, error) {
	cost := usage.Begin()
	last, err := run()
	cost.End(s.attempt.Counters, s.attempt.Start.Kind == taskproc.Kind_REDUCE)
	if done := last.GetFinished(); done != nil {
		done.Counters = counterMessages(s.attempt.Counters)
		if tooMany := s.attempt.Counters.Err(); tooMany != nil { // the next attempt would count the same
			err = errors.Join(err, &FatalError{Err: tooMany})
		}
	}
	return last, err
}

// counterLimits returns the limits on the counters of an attempt.
func counterLimits(c *conf.Conf) counter.Limits {
	return counter.Limits{
		Counters: c.Int(conf.CountersLimit), Groups: c.Int(conf.CounterGroupsMax),
		NameBytes: c.Int("mapreduce.job.counters.counter.name.max"), GroupBytes: c.Int("mapreduce.job.counters.group.name.max"),
	}
}

// finalMessage returns the last message of an attempt that ended in err.
func (s *session) finalMessage(ctx context.Context, err error) *taskproc.FromTask {
	if isKill(ctx, err) {
		return &taskproc.FromTask{Message: &taskproc.FromTask_Exited{Exited: &taskproc.Exited{}}}
	}
	if errors.As(err, new(*unwrittenError)) { // a checkpoint was ordered, and it cannot continue alone
		cause := valid(err.Error() + s.attempt.remedy(err))
		return &taskproc.FromTask{Message: &taskproc.FromTask_Exited{Exited: &taskproc.Exited{Cause: cause}}}
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Failure{Failure: s.attempt.failureOf(err)}}
}

// begin makes the parts of the attempt that orders need.
func (s *session) begin(ctx context.Context, server *Server, start *taskproc.Start) {
	set := new(counter.Set)
	ctx, cancel := context.WithCancelCause(ctx)
	s.attempt = &Attempt{
		Start: start, Counters: set, Files: server.Files, Local: countFS(server.Local, set),
		ctx: ctx, cancel: cancel, log: newLogTail(server.Log), send: s.conn.Send,
	}
	s.attempt.signals.init()
	s.group = &groupRun{Attempt: s.attempt, server: server}
	if s.attempt.Conf, s.confErr = conf.FromMap(start.Properties); s.confErr == nil {
		set.Limit(counterLimits(s.attempt.Conf))
	}
	s.boundary = time.NewTimer(0)
	s.boundary.Stop()
}

// prepare makes the rest of the attempt and finds its program. It may take a while if
// the attempt resumes from the checkpoint of another machine.
func (s *session) prepare(server *Server) (Program, error) {
	prog, unknown := server.Programs.find(s.attempt.Start.Program)
	if s.confErr != nil {
		return prog, errors.Join(unknown, &FatalError{Err: s.confErr})
	}
	err := s.attempt.resume()
	if err == nil {
		err = s.group.open()
	}
	return prog, errors.Join(unknown, err)
}

// listen reads orders until the tasknode closes the connection.
func (s *session) listen() {
	for {
		m, err := s.conn.Receive()
		if err != nil {
			s.cancel(errKilled)
			return
		}
		switch order := m.Message.(type) {
		case *taskproc.ToTask_Outputs:
			s.group.board.post(order.Outputs)
		case *taskproc.ToTask_Truncate:
			s.attempt.truncate(order.Truncate.Position)
		case *taskproc.ToTask_Preempt:
			s.handlePreempt(order.Preempt.Mode)
		case *taskproc.ToTask_Suspend:
			s.handleSuspend(order.Suspend)
		case *taskproc.ToTask_Resume:
			s.attempt.gate.resume()
		case *taskproc.ToTask_RequestProgress:
			s.group.fetched.resendAll()
			s.attempt.sendProgress(s.group.progress())
		case *taskproc.ToTask_Profile:
			s.profiles.Go(func() { s.takeProfile(order.Profile) })
		case *taskproc.ToTask_Kill:
			s.cancel(errKilled)
			s.attempt.signals.notify()
		}
	}
}

// tick requests progress reports while the attempt runs. Record loops report when they poll.
// For code that is at work without polling, tick itself reports and counts the activity: the
// master fails an attempt whose reports stay the same (mapreduce.task.timeout).
func (s *session) tick(ended <-chan struct{}) {
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		s.attempt.resident.Store(counter.ResidentBytes())
		select {
		case <-ended:
			return
		case <-ticker.C:
			s.attempt.signals.raise(&s.attempt.signals.progress)
			if s.attempt.signals.alive.Swap(false) || s.group.inEngine() {
				s.attempt.activity.Add(1)
				s.attempt.sendProgress(s.group.progress())
			}
		}
	}
}

// sendProgress sends a progress report. An error means that the tasknode is gone, which
// listen notices too.
func (a *Attempt) sendProgress(p *taskproc.Progress) {
	_ = a.send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: p}})
}

// handlePreempt orders the attempt to give up its slot and keep its work.
func (s *session) handlePreempt(mode taskproc.Preempt_Mode) {
	if mode == taskproc.Preempt_SPLIT {
		s.attempt.signals.raise(&s.attempt.signals.split)
		return
	}
	s.handleCheckpoint()
}

// truncate ends a map at the first record boundary at or after position. A tasknode of
// an earlier version sends no position to have the map split.
func (a *Attempt) truncate(position *taskproc.Position) {
	if position == nil {
		a.signals.raise(&a.signals.split)
		return
	}
	p := taskproc.ToPosition(position)
	a.signals.truncateAt.Store(&p)
	a.signals.notify()
}
