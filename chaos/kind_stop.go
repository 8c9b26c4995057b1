package chaos

import (
	"context"
	"errors"
	"syscall"
)

// stop suspends a process with SIGSTOP until SIGCONT: to others it is alive but silent, as
// in a long garbage collection or on an overloaded machine. Its connections stay open. A
// stopped machine includes the processes of its tasks; the tasks of a stopped tasknode
// run on.
var stop = KindSpec{
	Kind: Stop, Targets: allRoles, Lasts: true, unprivileged: true, survivable: true,

	Inject: signalDaemon(syscall.SIGSTOP), Undo: signalDaemon(syscall.SIGCONT), InjectTask: stopTask,
	NeedsRunning: true, Silences: true, NeedsShell: true,

	SimulateTask: func(s Simulation, f Fault) (string, error) { return s.StopTask(f.Target.Name, f.For) },
	SimulateMachine: func(s Simulation, f Fault, machine int) error {
		if f.Target.Role == Machine {
			s.StopTasks(machine, f.For)
		}
		f.atEnd(s, s.Partition(machine))
		return nil
	},
	SimulateMaster: isolateMaster,
}

// signalDaemon sends a signal to a daemon, and to the tasks of a machine.
func signalDaemon(sig syscall.Signal) func(context.Context, Lab, Fault, string) error {
	return func(ctx context.Context, lab Lab, f Fault, daemon string) (err error) {
		if f.Target.Role == Machine {
			for _, pid := range lab.Tasks(daemon) {
				err = errors.Join(err, lab.SignalTask(daemon, pid, sig))
			}
		}
		return errors.Join(err, lab.Signal(ctx, daemon, sig))
	}
}

func stopTask(_ context.Context, lab Lab, f Fault) (string, func() error, error) {
	tasknode, pid, err := lab.DrawTask(f.Target.Name)
	if err != nil {
		return "", nil, err
	}
	undo := func() error { return lab.SignalTask(tasknode, pid, syscall.SIGCONT) }
	return taskTarget(tasknode, pid), undo, lab.SignalTask(tasknode, pid, syscall.SIGSTOP)
}
