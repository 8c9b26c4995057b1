package chaos

import (
	"context"
	"fmt"
	"syscall"
)

// kill ends a process with SIGKILL, as a crash or a power failure does. Daemons are
// started again when the fault ends. A killed task is not: its tasknode reports the end
// of the process, and the master starts another attempt.
var kill = KindSpec{
	Kind: Kill, Targets: allRoles, Lasts: true, unprivileged: true, survivable: true,
	endsDaemon: notOfTask,

	Inject: killDaemon, InjectTask: killTask, NeedsRunning: true,

	SimulateTask: func(s Simulation, f Fault) (string, error) { return s.KillTask(f.Target.Name) },
	SimulateMachine: func(s Simulation, f Fault, machine int) error {
		s.FailMachine(machine, f.For.Milliseconds())
		return nil
	},
	SimulateMaster: isolateMaster,
}

func killDaemon(ctx context.Context, lab Lab, _ Fault, daemon string) error {
	return lab.Kill(ctx, daemon)
}

func killTask(_ context.Context, lab Lab, f Fault) (string, func() error, error) {
	tasknode, pid, err := lab.DrawTask(f.Target.Name)
	if err != nil {
		return "", nil, err
	}
	return taskTarget(tasknode, pid), nil, lab.SignalTask(tasknode, pid, syscall.SIGKILL)
}

// taskTarget names the process of a task in verdicts.
func taskTarget(tasknode string, pid int) string {
	return fmt.Sprintf("task process %d of %s", pid, tasknode)
}
