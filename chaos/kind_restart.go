package chaos

// restart ends a daemon with SIGKILL and starts it again at once: shorter than the expiry
// of a machine, so the master gets a new session of a tasknode that it never lost. Tasks
// cannot be targets: a process of a task is never started again.
var restart = KindSpec{
	Kind: Restart, Targets: daemons, unprivileged: true,
	endsDaemon: notOfTask,

	Inject: killDaemon,

	// Shorter than the expiry of a machine: no attempt is declared lost before the new
	// tasknode has joined.
	SimulateMachine: func(s Simulation, _ Fault, machine int) error {
		s.FailMachine(machine, restartMillis)
		return nil
	},
	// IsolateMaster takes effect now; the function that it returns ends it later.
	SimulateMaster: func(s Simulation, _ Fault, master int) error {
		s.After(restartMillis, s.IsolateMaster(master))
		return nil
	},
}

// restartMillis is the time from a daemon's kill to its return in the simulator, in ms.
const restartMillis = 300
