package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/hammr/hammr/preempt"
)

const (
	// UnreachableFiles is why faults that touch files of tasks are refused on a cluster of a
	// hostfile.
	UnreachableFiles = "the files of its tasks are out of reach"
	// notIsolated is why faults of networks and disks are refused there.
	notIsolated = "its daemons have no networks and disks that are the drill's to break"

	// ioErrorOneOf says of how many operations one fails.
	ioErrorOneOf = 20
	// diskOperations is the number of disk operations of an attempt in the simulator. A
	// master has one for each batch of its log.
	diskOperations = 5
	// restartMillis is the time from a daemon's kill to its return in the simulator, in ms.
	restartMillis = 300
	// retransmissionMillis is after how many ms TCP sends a lost packet again, at least.
	retransmissionMillis = 200
	// attemptKilobits is what an attempt sends in the simulator: 15 kB.
	attemptKilobits = 120

	maxDelay = time.Minute // of a packet
)

// Targets that several kinds have.
var (
	allRoles = []Role{Task, Tasknode, Jobmaster, DataNode, NameNode, Machine}
	daemons  = slices.DeleteFunc(slices.Clone(allRoles), func(r Role) bool { return r == Task })
	// callable daemons serve the calls that set faults inside them.
	callable = []Role{Tasknode, Jobmaster}
)

func notOfTask(f Fault) bool { return f.Target.Role != Task }

// preemptModes are the modes that a user may choose to preempt a task.
var preemptModes = []preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill}

// kinds are all kinds, in the order in which help lists them. Random plans draw from this
// order too, so a change of it changes the plans of seeds.
var kinds = []*KindSpec{
	// Kill ends a process with SIGKILL, as a crash or a power failure does. Daemons are
	// started again when the fault ends. A killed task is not: its tasknode reports the end
	// of the process, and the master starts another attempt.
	{
		Kind: Kill, Targets: allRoles, Lasts: true, unprivileged: true, survivable: true, endsDaemon: notOfTask,
		Inject: killDaemon, NeedsRunning: true, OnMachine: true,
		InjectTask: func(_ context.Context, lab Lab, f Fault) (string, func() error, error) {
			target, _, err := signalTask(lab, f, syscall.SIGKILL)
			return target, nil, err
		},

		SimulateTask:    func(s Simulation, f Fault) (string, error) { return s.KillTask(f.Target.Name) },
		SimulateMachine: failMachine, SimulateMaster: isolateMaster,
	},
	// Restart ends a daemon with SIGKILL and starts it again at once: shorter than the expiry
	// of a machine, so the master gets a new session of a tasknode that it never lost. Tasks
	// cannot be targets: a process of a task is never started again.
	{
		Kind: Restart, Targets: daemons, unprivileged: true, endsDaemon: notOfTask,
		Inject: killDaemon,

		SimulateMachine: func(s Simulation, _ Fault, machine int) error {
			s.FailMachine(machine, restartMillis)
			return nil
		},
		// IsolateMaster takes effect now; the function that it returns ends it later.
		SimulateMaster: func(s Simulation, _ Fault, master int) error {
			s.After(restartMillis, s.IsolateMaster(master))
			return nil
		},
	},
	// Stop suspends a process with SIGSTOP until SIGCONT: to others it is alive but silent, as
	// in a long garbage collection or on an overloaded machine. Its connections stay open. A
	// stopped machine includes the processes of its tasks; the tasks of a stopped tasknode
	// run on.
	{
		Kind: Stop, Targets: allRoles, Lasts: true, unprivileged: true, survivable: true,
		Inject: signalDaemon(syscall.SIGSTOP), Undo: signalDaemon(syscall.SIGCONT),
		InjectTask: func(_ context.Context, lab Lab, f Fault) (string, func() error, error) {
			target, signal, err := signalTask(lab, f, syscall.SIGSTOP)
			return target, func() error { return signal(syscall.SIGCONT) }, err
		},
		NeedsRunning: true, Silences: true, NeedsShell: true, OnMachine: true,

		SimulateTask: func(s Simulation, f Fault) (string, error) { return s.StopTask(f.Target.Name, f.For) },
		SimulateMachine: func(s Simulation, f Fault, machine int) error {
			if f.Target.Role == Machine {
				s.StopTasks(machine, f.For)
			}
			f.atEnd(s, s.Partition(machine))
			return nil
		},
		SimulateMaster: isolateMaster,
	},
	// Partition cuts a daemon off from all others: packets vanish, and connections stay open.
	// A machine is cut off with its tasks, since they share the network of their tasknode. A
	// DataNode is cut off from its NameNode only, by a forwarder between them. In the
	// simulator a tasknode neither sends nor receives, and its tasks run on.
	ofLink(KindSpec{
		Kind: Partition, Targets: []Role{Tasknode, Jobmaster, DataNode, Machine}, Silences: true,
		Link: func(Fault) Link { return Link{NoSend: true, NoReceive: true} },

		SimulateMachine: isolateMachine, SimulateMaster: isolateMaster,
	}),
	// Corrupt changes one byte in a segment of a finished map, as a bad disk does. A reduce
	// that reads it sees a wrong checksum, and the map runs again. Nothing undoes it. It needs
	// the tasknode's directory on this machine.
	{
		Kind: Corrupt, Targets: []Role{Tasknode}, unprivileged: true,
		Inject:     func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.CorruptSegment(daemon) },
		OnMachine:  true,
		NotOnHosts: UnreachableFiles,

		SimulateMachine: func(s Simulation, _ Fault, machine int) error {
			if !s.CorruptOutput(machine) {
				return ErrNoTarget
			}
			return nil
		},
	},
	// FullDisk takes all disk space of a tasknode's directory. Its attempts fail when they
	// write, and the tasknode takes no tasks below its required free space. In the simulator
	// attempts fail that are about to publish their output or to write a checkpoint.
	{
		Kind: FullDisk, Targets: []Role{Tasknode}, Lasts: true,
		Inject:    func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.FillDisk(daemon) },
		Undo:      func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.FreeDisk(daemon) },
		NeedsDisk: true, OnMachine: true, NotOnHosts: notIsolated,

		Effect: func(Fault, Hit) Effect { return Effect{Fail: "no space left on device"} },
	},
	// SlowDisk makes each operation of the daemon's own files, on a tasknode also those of its
	// tasks, take Fault.By longer.
	{
		Kind: SlowDisk, Targets: callable, Lasts: true,
		by: byDuration,
		check: func(f Fault) error {
			if f.By <= 0 {
				return fmt.Errorf("slow-disk by %v: expected how much longer each operation takes, such as 20ms", f.By)
			}
			return nil
		},
		draw: func(r *random, f *Fault) { f.By = r.drawDuration(5*time.Millisecond, 100*time.Millisecond) },

		Inject: func(ctx context.Context, lab Lab, f Fault, daemon string) error {
			return lab.SlowDisk(ctx, daemon, f.By)
		},
		Undo:     func(ctx context.Context, lab Lab, _ Fault, daemon string) error { return lab.SlowDisk(ctx, daemon, 0) },
		InDaemon: true,

		Effect: func(f Fault, hit Hit) Effect {
			operations := int64(diskOperations)
			if hit.Master {
				operations = 1
			}
			return Effect{Delay: operations * f.By.Milliseconds()}
		},
	},
	// IOError makes one of ioErrorOneOf operations of the daemon's own files, on a tasknode
	// also those of its tasks, fail. A master that cannot write to its log ends; it is
	// started again when the fault ends. In the simulator an attempt has diskOperations
	// operations, so each fourth one fails.
	{
		Kind: IOError, Targets: callable, Lasts: true,
		endsDaemon: func(f Fault) bool { return f.Target.Role == Jobmaster },
		Inject: func(ctx context.Context, lab Lab, _ Fault, daemon string) error {
			return lab.IOErrors(ctx, daemon, ioErrorOneOf)
		},
		Undo:     func(ctx context.Context, lab Lab, _ Fault, daemon string) error { return lab.IOErrors(ctx, daemon, 0) },
		InDaemon: true,

		SimulateMaster: isolateMaster,
		Effect: func(_ Fault, hit Hit) Effect {
			if hit.Number%(ioErrorOneOf/diskOperations) != 0 {
				return Effect{}
			}
			return Effect{Fail: "input/output error"}
		},
	},
	// Clock makes a daemon's time of day jump by Fault.By, back if it is negative, as a wrong
	// NTP server does. It is never undone. It has no model in the simulator, where it changes
	// nothing: masters measure how much time passes, and a tasknode only reports by how much
	// its clock differs.
	{
		Kind: Clock, Targets: callable,
		by: byDuration,
		check: func(f Fault) error {
			if f.By == 0 {
				return errors.New("clock: 'by TIME' is missing, such as 5s or -5s")
			}
			return nil
		},
		// Back and forth alike: code that measures durations by the time of day fails for one
		// of the two.
		draw: func(r *random, f *Fault) {
			if f.By = r.drawDuration(time.Second, time.Minute); r.IntN(2) == 0 {
				f.By = -f.By
			}
		},

		Inject: func(ctx context.Context, lab Lab, f Fault, daemon string) error {
			return lab.JumpClock(ctx, daemon, f.By)
		},
		InDaemon: true,
	},
	// Preempt takes its slot from a running attempt, as `hammr task preempt` does. A task
	// that cannot obey the mode at that moment is tried again later.
	{
		Kind: Preempt, Targets: []Role{Task},
		by: byMode,
		check: func(f Fault) error {
			if !slices.Contains(preemptModes, f.Mode) {
				return fmt.Errorf("preempt by %q: expected one of %s", f.Mode, join(preemptModes))
			}
			return nil
		},
		draw: func(r *random, f *Fault) { f.Mode = preemptModes[r.IntN(len(preemptModes))] },

		InjectTask: func(ctx context.Context, lab Lab, f Fault) (string, func() error, error) {
			attempt, err := lab.PreemptTask(ctx, f.Target.Name, f.Mode)
			return attempt, nil, err
		},
		RemoteTasks: true,

		SimulateTask: func(s Simulation, f Fault) (string, error) { return s.PreemptTask(f.Target.Name, f.Mode) },
	},
	// Failpoint makes Action happen at Point inside a daemon or its tasks: an error, a crash
	// or a delay, at each hit or only at the N-th. It counts as injected only if the point was
	// hit so often before the fault ended.
	{
		Kind: Failpoint, Targets: callable, Lasts: true, survivable: true, longest: randomLimit,
		endsDaemon: Fault.failpointEndsDaemon,
		by:         byAction, check: Fault.checkFailpoint, draw: (*random).drawFailpoint,

		Inject: func(ctx context.Context, lab Lab, f Fault, daemon string) error {
			return lab.Failpoint(ctx, daemon, f.Point, f.Action)
		},
		Undo: func(ctx context.Context, lab Lab, f Fault, daemon string) error {
			return lab.Failpoint(ctx, daemon, f.Point, "")
		},
		Missed: missedFailpoint, InDaemon: true,

		Effect: failpointEffect,
	},
	// OneWay is a partition in one direction: a daemon receives nothing, or it sends nothing. A connection needs both, so the simulator makes no difference.
	ofLink(KindSpec{
		Kind: OneWay, by: byDirection, Silences: true,
		check: func(f Fault) error {
			if f.Direction != In && f.Direction != Out {
				return fmt.Errorf("one-way by %q: expected %s for a target that receives nothing, or %s for one that sends nothing", f.Direction, In, Out)
			}
			return nil
		},
		draw: func(r *random, f *Fault) { f.Direction = []string{In, Out}[r.IntN(2)] },
		Link: func(f Fault) Link { return Link{NoReceive: f.Direction == In, NoSend: f.Direction == Out} },

		SimulateMachine: isolateMachine, SimulateMaster: isolateMaster,
	}),
	// Loss loses a part of the packets that the target sends, and of those that it receives. TCP
	// sends them again. In the simulator each write of an attempt, and each append to the log of a
	// master, waits for the retransmissions of one packet.
	ofLink(KindSpec{
		Kind: Loss, by: byPercent,
		check: func(f Fault) error { return f.checkAmount(1, 99, amountUnits[byPercent]) },
		draw:  func(r *random, f *Fault) { f.Amount = 1 + r.IntN(30) },
		Link:  func(f Fault) Link { return Link{Loss: f.Amount} },

		Effect: func(f Fault, _ Hit) Effect {
			return Effect{Delay: int64(retransmissionMillis * f.Amount / (100 - f.Amount))}
		},
	}),
	// Delay makes each packet that the target sends arrive Fault.By later. In the simulator each
	// write of an attempt, and each append to the log of a master, takes so much longer.
	ofLink(KindSpec{
		Kind: Delay, by: byDuration,
		check: func(f Fault) error {
			if f.By <= 0 || f.By > maxDelay {
				return fmt.Errorf("delay by %v: expected more than 0s, up to %v", f.By, maxDelay)
			}
			return nil
		},
		draw: func(r *random, f *Fault) { f.By = r.drawDuration(5*time.Millisecond, 100*time.Millisecond) },
		Link: func(f Fault) Link { return Link{Delay: f.By} },

		Effect: func(f Fault, _ Hit) Effect { return Effect{Delay: f.By.Milliseconds()} },
	}),
	// Bandwidth limits what the target sends. In the simulator each write of an attempt, and each
	// append to the log of a master, takes the time of the bytes that an attempt sends.
	ofLink(KindSpec{
		Kind: Bandwidth, by: byMbits,
		check: func(f Fault) error { return f.checkAmount(1, 100_000, amountUnits[byMbits]) },
		draw:  func(r *random, f *Fault) { f.Amount = 1 + r.IntN(50) },
		Link:  func(f Fault) Link { return Link{Mbits: f.Amount} },

		Effect: func(f Fault, _ Hit) Effect { return Effect{Delay: int64(max(1, attemptKilobits/f.Amount))} },
	}),
	// PowerLoss ends a daemon, with its tasks, and its files lose what was written since the last
	// fsync, and names that were made since the last fsync of their directory. The simulator
	// has no files, so it is a kill there.
	{
		Kind: PowerLoss, Targets: callable, Lasts: true, survivable: true, endsDaemon: notOfTask,
		Inject:       func(ctx context.Context, lab Lab, _ Fault, daemon string) error { return lab.LosePower(ctx, daemon) },
		NeedsRunning: true, NeedsDisk: true, NotOnHosts: notIsolated,

		SimulateMachine: failMachine, SimulateMaster: isolateMaster,
	},
}

// ofLink completes a kind that does something to the packets of a machine's link.
func ofLink(s KindSpec) *KindSpec {
	if s.Targets == nil {
		s.Targets = []Role{Tasknode, Jobmaster, Machine}
	}
	s.Lasts, s.NeedsNetwork, s.OnMachine, s.NotOnHosts = true, true, true, notIsolated
	s.Inject = func(_ context.Context, lab Lab, f Fault, daemon string) error {
		return lab.BreakLink(daemon, s.Link(f))
	}
	s.Undo = func(_ context.Context, lab Lab, f Fault, daemon string) error { return lab.MendLink(daemon, s.Link(f)) }
	return &s
}

func killDaemon(ctx context.Context, lab Lab, _ Fault, daemon string) error {
	return lab.Kill(ctx, daemon)
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

// signalTask sends a signal to the process of a running task. It returns the target's name in
// verdicts, and a function that sends it another signal.
func signalTask(lab Lab, f Fault, sig syscall.Signal) (target string, signal func(syscall.Signal) error, err error) {
	tasknode, pid, err := lab.DrawTask(f.Target.Name)
	if err != nil {
		return "", nil, err
	}
	signal = func(sig syscall.Signal) error { return lab.SignalTask(tasknode, pid, sig) }
	return fmt.Sprintf("task process %d of %s", pid, tasknode), signal, signal(sig)
}

func failMachine(s Simulation, f Fault, machine int) error {
	s.FailMachine(machine, f.For.Milliseconds())
	return nil
}

func isolateMachine(s Simulation, f Fault, machine int) error {
	f.atEnd(s, s.Partition(machine))
	return nil
}

// isolateMaster removes a master until the fault ends. In virtual time a master that is
// killed, stopped or cut off is the same to the others: it does not answer.
func isolateMaster(s Simulation, f Fault, master int) error {
	f.atEnd(s, s.IsolateMaster(master))
	return nil
}
