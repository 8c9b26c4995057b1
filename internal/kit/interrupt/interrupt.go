// Package interrupt ends the work of a process when its user ends it: by Ctrl-C, by SIGTERM, by
// the end of the terminal (SIGHUP), or by the end of the program that reads its output (SIGPIPE).
// The kernel's answer to the last three is to end the process at once, and what a job has written
// to local directories would stay.
package interrupt

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signals returns the signals by which a user ends a process. SIGHUP is one of them unless it is
// ignored when the process starts, as under nohup. Call it before anything catches SIGHUP.
func Signals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Context returns a context that ends with parent, at one of Signals, or when the
// standard output or the standard error has lost its reader, with the cause syscall.EPIPE. After the first
// signal the next one ends the process at once. The caller calls stop at the end of its work; writes
// to a closed pipe only return errors until then.
func Context(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals, pipes := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, Signals()...)
	signal.Notify(pipes, syscall.SIGPIPE)
	go func() {
		defer signal.Stop(signals)
		for ctx.Err() == nil {
			select {
			case s := <-signals:
				cancel(fmt.Errorf("signal %v", s))
			case <-pipes:
				if closed(os.Stdout) || closed(os.Stderr) {
					cancel(syscall.EPIPE)
				}
			case <-ctx.Done():
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		signal.Stop(pipes)
	}
}

// closed reports whether a file is a pipe without a reader. SIGPIPE does not name the file to which
// the process has written: it may be the connection to another process.
func closed(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLERR != 0
}
