package fsshell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/storage"
)

// Exit codes are Hadoop's: 1 if any path failed, even if others succeeded; 255 (its -1) if
// the command line is wrong and nothing was tried.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 255 // Hadoop's -1
	exitInterrupted = 130
)

// Env is the environment of a command. All fields but Zone are required; CreateOptions may be
// zero, for the file systems' own defaults.
type Env struct {
	// Finds the file system of a name, also of one without a scheme.
	Router *storage.Router
	// Stdin is read by -put of "-" only.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// CreateOptions apply to every file that is written.
	CreateOptions storage.CreateOptions
	// Zone is the time zone of -ls; nil is the machine's.
	Zone *time.Location
}

// Run runs one command: args begin with its name, "-ls". The result is the exit code. Output
// is buffered; errors are written at once, after the output before them. A failure to write
// the output is reported and is exit code 1, so that a full disk or a closed pipe does not
// look like success.
func Run(ctx context.Context, env Env, args []string) (exitCode int) {
	if env.Zone == nil {
		env.Zone = time.Local
	}
	// A listing of a million lines would be as many writes.
	out := bufio.NewWriterSize(env.Stdout, 64<<10)
	s := &shell{Env: env, ctx: ctx, out: out}
	code := s.run(args)
	if err := out.Flush(); err != nil && code == exitOK {
		s.report(err)
		code = exitFailed
	}
	return code
}

// shell is a running command. One goroutine uses it.
type shell struct {
	Env
	ctx  context.Context
	out  *bufio.Writer
	name string // of the command, without its dash
	// status is the exit code of a command with a result, such as -test.
	status   int
	reported int // number of failures
}

// errUsage is an error of the command line. It prints the usage of the command, and the exit
// code is 255.
type errUsage struct{ msg string }

func (e errUsage) Error() string { return e.msg }

// usagef makes an error of the command line: it prints the usage, and the exit code is 255.
func usagef(format string, args ...any) error { return errUsage{fmt.Sprintf(format, args...)} }

// run finds the command, parses its options and runs it.
func (s *shell) run(args []string) int {
	if len(args) == 0 {
		printUsages(s.Stderr)
		return exitUsage
	}
	cmd, ok := lookup(args[0])
	if !ok {
		s.unknown(args[0])
		return exitUsage
	}
	s.name = cmd.name
	in, err := cmd.parse(args[1:])
	if err == nil {
		err = cmd.run(s, in)
	}
	return s.exitCode(cmd, err)
}

// exitCode turns the result of a command into Hadoop's codes: 255 for usage, 130 after an
// interrupt, 1 if anything was reported, else the command's own status.
func (s *shell) exitCode(cmd *command, err error) int {
	var usage errUsage
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(s.Stderr, "-%s: %s\n%s -%s %s\n", s.name, usage.msg, usagePrefix, cmd.name, cmd.usage)
		return exitUsage
	// Before err: what an interrupted command returns is a consequence.
	case errors.Is(context.Cause(s.ctx), syscall.EPIPE):
		return exitFailed
	case s.ctx.Err() != nil:
		fmt.Fprintf(s.Stderr, "%s: Interrupted\n", s.name)
		return exitInterrupted
	case err != nil:
		s.report(err)
	}
	if s.reported > 0 {
		return exitFailed
	}
	return s.status
}

// unknown suggests the command with a dash, which Hadoop's shell does too.
func (s *shell) unknown(name string) {
	fmt.Fprintf(s.Stderr, "%s: Unknown command\n", name)
	// The most common mistake: a command without its dash.
	if _, ok := lookup("-" + name); ok {
		fmt.Fprintf(s.Stderr, "Did you mean -%s?  This command begins with a dash.\n", name)
	}
	printUsages(s.Stderr)
}

// report prints the first line of an error and counts it. It flushes the output first, so
// that both are in order on a terminal. After an interrupt every call fails, so report
// leaves these errors out.
func (s *shell) report(err error) {
	s.reported++
	if s.ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return // printed once, as "Interrupted"; not at all if the reader of a pipe has had enough
	}
	s.out.Flush()
	// Errors of HDFS have Java stacks in their further lines.
	line, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(s.Stderr, "%s: %s\n", s.name, line)
}

// printf prints to the buffered output; an error shows when Run flushes it.
func (s *shell) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// each processes items in order, and reports those that fail or do not exist. After an
// interrupt it stops; what was processed stays so.
func (s *shell) each(items []item, work func(item) error) {
	for _, it := range items {
		if s.ctx.Err() != nil {
			return
		}
		if !it.exists() {
			s.report(notFound(it.name))
		} else if err := work(it); err != nil {
			s.report(toPathError(it, err))
		}
	}
}

// overPaths makes a command from a function of one existing path. Most commands are made by
// it: they share expansion, order and reports.
func overPaths(work func(s *shell, in invocation, it item) error) func(*shell, invocation) error {
	return func(s *shell, in invocation) error {
		s.each(s.expandAll(in.args), func(it item) error { return work(s, in, it) })
		return nil
	}
}
