package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// Output is the standard output of a command. It remembers the first error of a write: most
// callers print without a look at the error, and a result on a full disk is not a result.
type Output struct {
	to io.Writer
	mu struct {
		sync.Mutex
		err error
	}
}

// NewOutput returns an Output that writes to a writer.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.mu.err == nil {
			o.mu.err = err
		}
	}
	return n, err
}

// Finish returns the exit code of a command that would end with code. If a write has failed, a
// command that has succeeded fails, and the error is printed, unless the reader of a pipe has had
// enough.
func (o *Output) Finish(name string, code int, stderr io.Writer) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.err == nil || code != 0 {
		return code
	}
	if !errors.Is(o.mu.err, syscall.EPIPE) {
		fmt.Fprintf(stderr, "%s: standard output: %v\n", name, o.mu.err)
	}
	return 1
}

// FileOf returns the file behind a writer, nil if there is none.
func FileOf(w io.Writer) *os.File {
	if o, is := w.(*Output); is {
		w = o.to
	}
	f, _ := w.(*os.File)
	return f
}
