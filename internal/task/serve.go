package task

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// sampleInterval is how often a running attempt reports its progress.
const sampleInterval = 250 * time.Millisecond

// Server runs attempts with the programs of one binary.
type Server struct {
	Programs Programs

	// Files opens inputs and outputs.
	Files *storage.Router

	// Local has the attempts' local directories.
	Local storage.FS

	// Log gets what attempts log, each line in one Write; nil is nobody. The
	// last lines are kept for failures in any case.
	Log io.Writer

	// usage shares out what the process uses among its attempts.
	usage counter.Process

	// sources bounds what reduces have under way from each node.
	sources transfer.Sources
}

// Serve runs the one attempt that the tasknode at the other end of conn asks
// for, and returns when its last message has been sent. The end of ctx kills
// the attempt.
func (s *Server) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	messages := taskproc.NewTaskEnd(conn)
	defer messages.Close()
	start, err := messages.ReceiveStart()
	if err != nil {
		return err
	}
	return s.Run(ctx, messages, start)
}

// Run is Serve for a connection on which Start has come already. It closes the
// connection.
func (s *Server) Run(ctx context.Context, messages taskproc.TaskEnd, start *taskproc.Start) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &session{conn: messages, cancel: cancel, news: make(chan *taskproc.Outputs, 1)}
	return a.run(ctx, s, start)
}

// session is one attempt's end of its connection. Goroutines: listen reads
// orders and ends with the connection; tick samples progress and ends with the
// attempt; the attempt itself runs in the goroutine of Serve.
type session struct {
	conn    taskproc.TaskEnd
	cancel  context.CancelCauseFunc
	news    chan *taskproc.Outputs
	attempt *Attempt
}

func (s *session) run(ctx context.Context, server *Server, start *taskproc.Start) error {
	run, err := s.prepare(ctx, server, start)
	var workers sync.WaitGroup
	workers.Go(s.listen)
	ended := make(chan struct{})
	workers.Go(func() { s.tick(ended) })

	var last *taskproc.FromTask
	if err == nil {
		last, err = s.carryOut(func() (*taskproc.FromTask, error) {
			return s.measured(&server.usage, run)
		})
	}
	if err != nil {
		last = s.lastWord(ctx, err)
		s.attempt.outputs.abort()
	}
	close(ended)
	err = s.conn.Send(last)
	_ = s.conn.Close() // ends listen
	workers.Wait()
	return err
}

// carryOut runs the attempt; a panic outside the user's code is a failure too.
func (s *session) carryOut(run func() (*taskproc.FromTask, error)) (last *taskproc.FromTask, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
	}()
	return run()
}

// measured adds to the counters of a finished attempt what it used.
func (s *session) measured(usage *counter.Process, run func() (*taskproc.FromTask, error)) (*taskproc.FromTask, error) {
	cost := usage.Begin()
	last, err := run()
	cost.End(s.attempt.Counters, s.attempt.Start.Kind == taskproc.Kind_REDUCE)
	if done := last.GetDone(); done != nil {
		done.Counters = counterMessages(s.attempt.Counters)
	}
	return last, err
}

// lastWord is the message for an attempt that ended in err.
func (s *session) lastWord(ctx context.Context, err error) *taskproc.FromTask {
	if ctx.Err() != nil && (errors.Is(err, errKilled) || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return &taskproc.FromTask{Message: &taskproc.FromTask_Killed{Killed: &taskproc.Killed{}}}
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Failure{Failure: s.attempt.failureOf(err)}}
}

// prepare builds the attempt and returns what runs it.
func (s *session) prepare(ctx context.Context, server *Server, start *taskproc.Start) (func() (*taskproc.FromTask, error), error) {
	set := new(counter.Set)
	base := &Attempt{
		Start: start, Counters: set, Files: server.Files, Local: countFS(server.Local, set),
		ctx: ctx, cancel: s.cancel, log: newLogTail(server.Log), send: s.conn.Send,
	}
	base.signal.paused = make(chan struct{})
	s.attempt = base
	prog, err := server.Programs.find(start.Program)
	if start.Kind == taskproc.Kind_REDUCE {
		r := &Reduce{Attempt: base, news: s.news, sources: &server.sources}

		return func() (*taskproc.FromTask, error) { return r.run(prog) }, errors.Join(err, r.configure())
	}
	m := &Map{Attempt: base}

	return func() (*taskproc.FromTask, error) { return m.run(prog) }, errors.Join(err, m.configure())
}

func (a *Attempt) configure() error {
	c, err := conf.FromMap(a.Start.Properties)
	if err != nil {
		return &FatalError{Err: err}
	}
	a.Conf = c
	return a.resume()
}

func (m *Map) configure() error {
	if err := m.Attempt.configure(); err != nil {
		return err
	}
	if m.Start.Split == nil || len(m.Start.Split.Parts) == 0 {
		return &FatalError{Err: errors.New("map task without a split")}
	}
	m.work = rangeOf(m.Start.Range)
	if m.resumed != nil {
		m.work = rangeOf(m.resumed.Remaining)
	}
	m.processed = m.work
	for _, p := range m.Start.Split.Parts {
		m.limit += p.Length
	}
	for _, p := range m.Start.Skip {
		m.skip = append(m.skip, positionOf(p))
	}
	if m.resumed == nil {
		m.Counters.Add(counter.InputSplitBytes, splitBytes(m.Start.Split))
	}
	return nil
}

// splitBytes is the size of the split's description, which Hadoop counts.
func splitBytes(s *taskproc.Split) int64 {
	var n int
	for _, p := range s.Parts {
		n += len(p.Path) + 16
	}
	return int64(n)
}

// listen reads orders until the tasknode hangs up.
func (s *session) listen() {
	defer close(s.news)
	for {
		m, err := s.conn.Receive()
		if err != nil {
			s.cancel(errKilled)
			return
		}
		switch order := m.Message.(type) {
		case *taskproc.ToTask_Outputs:
			s.deliver(order.Outputs)
		case *taskproc.ToTask_Stop:
			s.attempt.stopAt(order.Stop.Position)
		case *taskproc.ToTask_Pause:
			s.attempt.signal.raisePause()
		case *taskproc.ToTask_Kill:
			s.cancel(errKilled)
			s.attempt.signal.any.Store(true)
		}
	}
}

// deliver hands news to the attempt without waiting for it: what it has not
// taken yet is joined with what is new.
func (s *session) deliver(news *taskproc.Outputs) {
	select {
	case earlier := <-s.news:
		news = joinNews(earlier, news)
	default:
	}
	s.news <- news // has room: listen is the only sender
}

// joinNews is two messages in one, in which revoking comes before telling.
func joinNews(earlier, later *taskproc.Outputs) *taskproc.Outputs {
	kept := slices.DeleteFunc(earlier.Outputs, func(o *taskproc.MapOutput) bool { return slices.Contains(later.Revoked, o.Attempt) })
	return &taskproc.Outputs{
		Outputs:  append(kept, later.Outputs...),
		Revoked:  append(earlier.Revoked, later.Revoked...),
		Complete: earlier.Complete || later.Complete,
	}
}

// tick asks for progress while the attempt runs.
func (s *session) tick(ended <-chan struct{}) {
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
			s.attempt.signal.raise(&s.attempt.signal.sample)
			if s.attempt.signal.alive.Swap(false) || s.attempt.inEngine() {
				s.attempt.signs.Add(1)
				_ = s.conn.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: s.attempt.progress()}})
			}
		}
	}
}

// inEngine reports whether the attempt is in a phase in which no user code
// runs record by record: sorting and copying show life by themselves.
func (a *Attempt) inEngine() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.phase == "copy" || a.mu.phase == "sort"
}

// stopAt ends a map at the first record boundary at or after position, or at
// the next one when it is nil.
func (a *Attempt) stopAt(position *taskproc.Position) {
	if position != nil {
		p := positionOf(position)
		a.signal.stopAt.Store(&p)
	}
	a.signal.raise(&a.signal.stop)
}
