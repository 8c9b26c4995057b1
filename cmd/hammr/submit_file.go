package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

var isJobID = regexp.MustCompile(`^job_[^_]+_\d{4,}$`).MatchString

// submitFile runs a program that submits its job and prints the id, or prints help. Ctrl-C
// is handled by the program.
func submitFile(path string, args []string, help bool, stdout, stderr io.Writer) error {
	interrupts := make(chan os.Signal, 1) // the terminal sends them to the program too
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	seen := &jobIDDetector{to: stdout}
	err := runFile(ctx, path, args, seen, stderr)
	switch code, ended := exitCodeOf(err); {
	case err == nil && (seen.found || help):
		return nil
	case err == nil:
		return runError{fmt.Errorf("%s ended without handing in a job; a Hammr program ends its main with mr.Main", path)}
	case ended:
		fmt.Fprintf(stderr, "hammr: %s handed in no job and ended with exit code %d\n", path, code)
		return exitError(code)
	}
	return runError{fmt.Errorf("%s handed in no job and %w", path, err)}
}

// runFile runs a program. When ctx ends, the program gets SIGTERM.
func runFile(ctx context.Context, path string, args []string, stdout, stderr io.Writer) error {
	program := exec.CommandContext(ctx, path, args...)
	program.Cancel = func() error { return program.Process.Signal(syscall.SIGTERM) }
	program.WaitDelay = 20 * time.Second
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, stdout, stderr
	err := program.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &ended):
		return fmt.Errorf("cannot be run: %w", err)
	case ended.Exited():
		return err
	}
	return fmt.Errorf("was ended: %w", err)
}

// exitCodeOf is the exit code of a program; ended is false if a signal ended it.
func exitCodeOf(err error) (code int, ended bool) {
	var end *exec.ExitError
	if !errors.As(err, &end) || !end.Exited() {
		return 0, false
	}
	return end.ExitCode(), true
}
