package cli

import (
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/sched/registry"
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

// init keeps the main goroutine on the main thread, where Main starts processes; see
// procfs.ServeMainThread. In the process of a task it does not, because user code is slower on a
// goroutine that is bound to a thread.
func init() {
	if os.Getenv(taskproc.ControlVariable) == "" {
		runtime.LockOSThread()
	}
}

// Main runs the command line of this process and ends it with the exit code. It first serves
// tasks: a tasknode starts this same binary for the tasks of bundled programs, and ServeTask
// returns only in a process that a person has started.
//
// The program of another module that imports packages with policies and calls Main is hammr with
// those policies: the daemons that it starts and the tasks of bundled programs are processes of
// that program.
//
//	package main
//
//	import (
//		_ "example.com/mypolicy" // calls registry.Register in its init function
//
//		"github.com/hammr/hammr/cli"
//	)
//
//	func main() { cli.Main() }
//
// Main is called in the goroutine of main.
func Main() {
	mr.ServeTask(runnables()...)
	registry.Seal()
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
