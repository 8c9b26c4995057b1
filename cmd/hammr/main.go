// Command hammr contains the bundled programs, the file system shell, the daemons of a
// cluster with the commands that operate it, the simulator, and a generator for new
// programs.
package main

import (
	"os"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/mr"
)

// Exit codes. The file system shell also has 255 for a wrong command line, as Hadoop's.
const (
	exitDone        = mr.ExitDone
	exitFailed      = mr.ExitFailed
	exitUsage       = mr.ExitUsage
	exitInterrupted = mr.ExitInterrupted
)

func main() {
	mr.ServeTask(runnables()...)
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// runnables are the bundled programs, whose tasks this binary runs.
func runnables() (all []mr.Runnable) {
	for _, p := range examples.Programs() {
		all = append(all, p)
	}
	return all
}
