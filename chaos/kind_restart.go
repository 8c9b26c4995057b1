package chaos

// restart ends a daemon with SIGKILL and starts it again at once: shorter than the expiry
// of a machine, so the master meets a new session of a tasknode that it never lost. Tasks
// are no target, as they are never started again.
var restart = KindSpec{
	Kind: Restart, Targets: daemons, unprivileged: true,
	endsDaemon: notOfTask,

	Inject: killDaemon,

	SimulateMachine: func(s Simulation, _ Fault, machine int) error {
		s.FailMachine(machine, restartMillis)
		return nil
	},
	SimulateMaster: func(s Simulation, _ Fault, master int) error {
		s.After(restartMillis, s.IsolateMaster(master))
		return nil
	},
}

// restartMillis is the time from a daemon's kill to its return in the simulator, in ms.
const restartMillis = 300
