package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/hammr/hammr/chaos/rig"
)

// inNamespaces runs a function that may need its own namespaces for networks and mounts. If
// needed returns true, this process starts the same command line again in new namespaces,
// and ends with its exit code. The second process also calls inNamespaces; because it is in
// namespaces already, it runs the function.
func inNamespaces(ctx context.Context, needed func() bool, stdout, stderr io.Writer, run func() error) error {
	switch {
	case rig.Isolated():
		if err := rig.EnterIsolation(); err != nil {
			return err
		}
	case needed():
		return runIsolated(ctx, stdout, stderr)
	}
	return run()
}

// runIsolated runs the same command line in its own network and mount namespaces. It waits
// for the inner process, forwards Ctrl-C to it, and returns its exit code. Everything that
// the inner process creates ends with it, even if it is killed.
func runIsolated(ctx context.Context, stdout, stderr io.Writer) error {
	if err := rig.CanIsolate(); err != nil {
		return err
	}
	self, err := ownProgram()
	if err != nil {
		return err
	}
	inner := exec.CommandContext(ctx, self, os.Args[1:]...)
	inner.Stdout, inner.Stderr = stdout, stderr
	inner.Cancel = func() error { return inner.Process.Signal(os.Interrupt) }
	rig.Isolate(inner)
	runtime.LockOSThread() // the kernel ends a child when the thread that started it ends
	defer runtime.UnlockOSThread()
	err = inner.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return exitWith(ended.ExitCode())
	}
	return err
}
