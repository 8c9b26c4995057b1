package drill

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
)

func init() {
	injectors[chaos.Kill] = injector{inject: killDaemons, undo: restartDaemons, injectTask: killTask, needsRunning: true}
}

func killDaemons(d *drill, _ chaos.Fault) action { return each(d.rig.Kill) }

func restartDaemons(d *drill, _ chaos.Fault) action { return d.restartDaemons }

func killTask(ctx context.Context, d *drill, f chaos.Fault) (injection, error) {
	node, pid, err := d.taskProcess(f.Target.Name)
	if err != nil {
		return injection{}, err
	}
	in := injection{target: taskTarget(node, pid), at: time.Now()}
	return in, d.rig.SignalTask(node, pid, syscall.SIGKILL)
}

func taskTarget(tasknode string, pid int) string {
	return fmt.Sprintf("task process %d of %s", pid, tasknode)
}
