package task

import (
	"context"
	"sync"

	"github.com/hammr/hammr/internal/files"
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

// stand has nothing be opened until goOn. It is false while something is open.
func (s *stillness) stand() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writers > 0 {
		return false
	}
	if s.again == nil {
		s.again = make(chan struct{})
	}
	return true
}

func (s *stillness) goOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed = 0
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

// open counts a file that is opened elsewhere, once the attempt goes on.
func (s *stillness) open(ctx context.Context) error {
	for {
		s.mu.Lock()
		again := s.again
		if again == nil {
			s.writers++
		}
		s.mu.Unlock()
		if again == nil {
			return nil
		}
		select {
		case <-again:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *stillness) closed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writers--
}

// stand answers an order to stand still: with a checkpoint where files are open
// that would not bear it.
func (s *session) stand(order *taskproc.Suspend) {
	if !s.attempt.still.stand() {
		s.attempt.still.owes(order.Number)
		s.pause()
		return
	}
	s.attempt.standsStill(order.Number)
}

func (a *Attempt) standsStill(number int64) {
	_ = a.send(&taskproc.FromTask{Message: &taskproc.FromTask_Still{Still: &taskproc.Still{Number: number}}}) // else the tasknode is gone
}

// create makes a file of the attempt's output. One elsewhere keeps the attempt
// from standing still until it is closed.
func (a *Attempt) create(fsys storage.FS, path string) (storage.Writer, error) {
	if isLocal(fsys) {
		return fsys.Create(a.ctx, path, files.CreateOptions(a.Conf))
	}
	if err := a.still.open(a.ctx); err != nil {
		return nil, err
	}
	w, err := fsys.Create(a.ctx, path, files.CreateOptions(a.Conf))
	if err != nil {
		a.still.closed()
		return nil, err
	}
	return &writerElsewhere{Writer: w, closed: sync.OnceFunc(a.still.closed)}, nil
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
