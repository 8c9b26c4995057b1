// Command hammr is the one binary of the project. Package cli has its commands.
package main

import (
	"os"
	"runtime"

	"github.com/hammr/hammr/cli"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// init keeps the main goroutine on the main thread, where cli.Main starts processes. In the process of
// a task it does not, because user code is slower on a goroutine that is bound to a thread.
func init() {
	if os.Getenv(taskproc.ControlVariable) == "" {
		runtime.LockOSThread()
	}
}

func main() { cli.Main() }
