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

// submitFile runs a program, which hands in its job and prints the id, unless it
// was asked for help. Ctrl-C is the program's to answer.
func submitFile(path string, args []string, help bool, stdout, stderr io.Writer) error {
	interrupts := make(chan os.Signal, 1) // which the terminal sends to the program too
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	seen := &jobSeen{to: stdout}
	program := exec.CommandContext(ctx, path, args...)
	program.Cancel = func() error { return program.Process.Signal(syscall.SIGTERM) }
	program.WaitDelay = 20 * time.Second
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, seen, stderr
	err := program.Run()
	var ended *exec.ExitError
	switch {
	case err == nil && (seen.seen || help):
		return nil
	case err == nil:
		return workError{fmt.Errorf("%s ended without handing in a job; a Hammr program ends its main with mr.Main", path)}
	case !errors.As(err, &ended):
		return workError{fmt.Errorf("%s cannot be run: %w", path, err)}
	case ended.Exited():
		fmt.Fprintf(stderr, "hammr: %s handed in no job and ended with exit code %d\n", path, ended.ExitCode())
		return exitError(ended.ExitCode())
	}
	return workError{fmt.Errorf("%s handed in no job and was ended: %w", path, err)}
}
