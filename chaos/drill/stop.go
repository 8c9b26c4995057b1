package drill

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
)

func init() {
	injectors[chaos.Stop] = injector{
		inject: signalAll(syscall.SIGSTOP), undo: signalAll(syscall.SIGCONT), injectTask: stopTask,
		needsRunning: true, silences: true, shell: true,
	}
}

// signalAll sends a signal to a daemon, and to the tasks of a machine.
func signalAll(sig syscall.Signal) func(*drill, chaos.Fault) action {
	return func(d *drill, f chaos.Fault) action {
		return each(func(ctx context.Context, name string) (err error) {
			if f.Target.Role == chaos.Machine {
				for _, pid := range d.rig.Tasks(name) {
					err = errors.Join(err, d.rig.SignalTask(name, pid, sig))
				}
			}
			return errors.Join(err, d.rig.Signal(ctx, name, sig))
		})
	}
}

func stopTask(_ context.Context, d *drill, f chaos.Fault) (injection, error) {
	node, pid, err := d.taskProcess(f.Target.Name)
	if err != nil {
		return injection{}, err
	}
	in := injection{target: taskTarget(node, pid), at: time.Now()}
	in.undo = func(context.Context) error { return d.rig.SignalTask(node, pid, syscall.SIGCONT) }
	return in, d.rig.SignalTask(node, pid, syscall.SIGSTOP)
}
