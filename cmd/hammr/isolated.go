package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/hammr/hammr/chaos/rig"
)

// runIsolated runs the same command in its own network and mount namespaces. There
// rig.Isolated is true, and the command calls rig.EnterIsolation.
func runIsolated(ctx context.Context, stdout, stderr io.Writer) error {
	if err := rig.CanIsolate(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	inner := exec.CommandContext(ctx, self, os.Args[1:]...)
	inner.Stdout, inner.Stderr = stdout, stderr
	inner.Cancel = func() error { return inner.Process.Signal(os.Interrupt) }
	rig.Isolate(inner)
	err = lasting(inner.Run)
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return exitWith(ended.ExitCode())
	}
	return err
}
