package task

import (
	"context"
	"fmt"
	"sync"

	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// stillness keeps two things apart: an attempt that stands still, and files that
// it writes on other machines, which give up a writer that is silent for long.
type stillness struct {
	mu      sync.Mutex
	writers int           // files that are open elsewhere
	again   chan struct{} // closed when the attempt goes on; nil unless it is to stand still
	owed    int64         // number of the order that was answered with a pause; 0: none was
}

// hold has nothing be opened until resumeInPlace.
func (s *stillness) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again == nil {
		s.again = make(chan struct{})
	}
}

// stand has nothing be opened until resumeInPlace. It is false while something is open, and
// then more may be opened.
func (s *stillness) stand() bool {
	if s.hold(); s.idle() {
		return true
	}
	s.letGo()
	return false
}

func (s *stillness) goOn() {
	s.mu.Lock()
	s.owed = 0
	s.mu.Unlock()
	s.letGo()
}

// letGo has files be opened again.
func (s *stillness) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again != nil {
		close(s.again)
		s.again = nil
	}
}

// owes notes an order to stand still that cannot be followed while a file is open.
func (s *stillness) owes(number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed = number
}

// standNow has nothing be opened if an order to stand still is owed that can be
// followed now, and returns its number; 0 for none.
func (s *stillness) standNow() int64 {
	s.mu.Lock()
	number := s.owed
	s.mu.Unlock()
	if number == 0 || !s.stand() {
		return 0
	}
	return number
}

// idle reports whether the attempt could stand still now.
func (s *stillness) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writers == 0
}

// tryOpen counts a file that is opened elsewhere, or returns what is closed when the
// attempt goes on.
func (s *stillness) tryOpen() (again <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again == nil {
		s.writers++
		return nil
	}
	return s.again
}

func (s *stillness) closed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writers--
}

// handleSuspend answers an order to stand still. Outputs become pieces; where other files are
// open that would not bear it, a checkpoint is the answer.
func (s *session) handleSuspend(order *taskproc.Suspend) {
	a := s.attempt
	a.still.hold()
	if err := s.group.rest(); err != nil {
		s.group.fail(err)
		return
	}
	if !a.still.stand() {
		a.still.owes(order.Number)
		s.handleCheckpoint()
		return
	}
	a.standsStill(order.Number)
}

// rest has the outputs of all Nodes rest. Before the group is laid out none has any.
func (g *group) rest() error {
	if !g.laidOut.Load() {
		return nil
	}
	for _, n := range g.nodes {
		if err := n.files.closePieces(); err != nil {
			return fmt.Errorf("a task that is to stand still: %w", err)
		}
	}
	return nil
}

func (a *Attempt) standsStill(number int64) {
	_ = a.send(&taskproc.FromTask{Message: &taskproc.FromTask_SuspendReady{SuspendReady: &taskproc.SuspendReady{Number: number}}}) // else the tasknode is gone
}

// create makes a file beside the attempt's output, once the attempt goes on. One
// elsewhere keeps it from standing still until it is closed.
func (a *Attempt) create(fsys storage.FS, path string) (storage.Writer, error) {
	if !isLocal(fsys) {
		if err := a.opens(); err != nil {
			return nil, err
		}
	}
	return a.createCounted(fsys, path)
}

// createNow is create for an attempt that goes on. Of one that does not it returns
// what is closed when it does.
func (a *Attempt) createNow(fsys storage.FS, path string) (w storage.Writer, again <-chan struct{}, err error) {
	if !isLocal(fsys) {
		if again := a.still.tryOpen(); again != nil {
			return nil, again, nil
		}
	}
	w, err = a.createCounted(fsys, path)
	return w, nil, err
}

// createCounted makes a file; one elsewhere has been counted already.
func (a *Attempt) createCounted(fsys storage.FS, path string) (storage.Writer, error) {
	w, err := fsys.Create(a.ctx, path, fsconf.CreateOptions(a.Conf))
	switch {
	case isLocal(fsys):
		return w, err
	case err != nil:
		a.still.closed()
		return nil, err
	}
	return &writerElsewhere{Writer: w, closed: sync.OnceFunc(a.still.closed)}, nil
}

// opens counts a file that is opened elsewhere, once the attempt goes on.
func (a *Attempt) opens() error {
	for {
		again := a.still.tryOpen()
		if again == nil {
			return nil
		}
		if err := a.awaits(again); err != nil {
			return err
		}
	}
}

// awaits waits until the attempt goes on.
func (a *Attempt) awaits(again <-chan struct{}) error {
	select {
	case <-again:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

// isLocal reports whether files of a file system have no writer to give up.
func isLocal(fsys storage.FS) bool { return fsys.URI() == "file://" }

// writerElsewhere tells when a file is open no more.
type writerElsewhere struct {
	storage.Writer
	closed func()
}

func (w *writerElsewhere) Close() error {
	defer w.closed()
	return w.Writer.Close()
}

func (w *writerElsewhere) Abort() error {
	defer w.closed()
	return w.Writer.Abort()
}
