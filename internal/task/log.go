package task

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
)

// logTailBytes is how much of its log an attempt keeps for a failure.
const logTailBytes = 4096

// logTail is an attempt's log. Every line is written to next, and the last lines are kept,
// so that the message of a failure can show them without reading files. Any goroutine may
// write.
type logTail struct {
	logger *slog.Logger
	next   io.Writer // nil for none
	mu     struct {
		sync.Mutex
		tail []byte // at most 2*logTailBytes
	}
}

// newLogTail makes a log whose lines are written to next.
func newLogTail(next io.Writer) *logTail {
	t := &logTail{next: next}
	t.logger = slog.New(slog.NewTextHandler(t, nil))
	return t
}

// Write keeps the last logTailBytes of what is written. An error of next does not fail
// the attempt.
func (t *logTail) Write(p []byte) (int, error) {
	if t.next != nil {
		_, _ = t.next.Write(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.tail = append(t.mu.tail, p...)
	if excess := len(t.mu.tail) - logTailBytes; excess > logTailBytes {
		t.mu.tail = append(t.mu.tail[:0], t.mu.tail[excess:]...)
	}
	return len(p), nil
}

// String returns the last whole lines of the log.
func (t *logTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	tail := t.mu.tail
	if excess := len(tail) - logTailBytes; excess > 0 {
		tail = tail[excess:]
		if i := bytes.IndexByte(tail, '\n'); i >= 0 {
			tail = tail[i+1:]
		}
	}
	return string(tail)
}
