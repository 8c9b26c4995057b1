package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/mr"
)

// Exit codes. The file system shell also has 255 for a wrong command line, as Hadoop's.
const (
	exitDone        = mr.ExitDone
	exitFailed      = mr.ExitFailed
	exitUsage       = mr.ExitUsage
	exitInterrupted = mr.ExitInterrupted
)

// mainThread starts processes on the main thread, so that the program of a tasknode can be
// replaced while its tasks run. It is nil in tests.
var mainThread *procfs.Starter

// Main runs the command line of this process and ends it with the exit code. It first serves
// tasks: a tasknode starts this same binary for the tasks of bundled programs, and ServeTask
// returns only in a process that a person has started.
//
// A program calls it on the main thread, which its init keeps for the main goroutine with
// runtime.LockOSThread; see procfs.ServeMainThread.
func Main() {
	mr.ServeTask(runnables()...)
	os.Exit(procfs.ServeMainThread(func(starter *procfs.Starter) int {
		mainThread = starter
		return execute(os.Args[1:], os.Stdout, os.Stderr)
	}))
}

// Commands returns the tree of all commands, for programs that describe it. Each call makes
// a new one.
func Commands() *cobra.Command { return newRoot() }

// runnables returns the bundled programs, whose tasks this binary runs.
func runnables() (all []mr.Runnable) {
	for _, p := range examples.Programs() {
		all = append(all, p)
	}
	return all
}
