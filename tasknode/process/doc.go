// Package process starts tasks as child processes of a tasknode:
//
//	launcher, err := process.New(process.Config{Programs: cache, LogDir: …})
//	daemon, err := tasknode.New(tasknode.Config{Launcher: launcher, …})
//	…
//	err = daemon.Run(ctx)
//	launcher.Close()
//
// The process of a task runs the submitted program without arguments. The environment
// variable taskproc.ControlVariable names the descriptor of its control socket. Package
// mr sees the variable and runs the task.
//
//	tasknode ─── control socket, messages of taskproc ──► fd 3 ┐
//	         ◄── pipe, to the attempt's file "stdout" ─── fd 1 ├ process group of the task
//	         ◄── pipe, to the attempt's file "stderr" ─── fd 2 │
//	         ◄── task ended ──── files of the next one ─► fd 4 ┘
//
// The output of a program is only used as its log. It is read without delay, and the first
// and the last bytes of each stream are kept, as Config.LogBytes says. So a program that
// prints gigabytes is not delayed and does not fill the disk.
//
// A new process costs more than a small task. So a process that has finished its task
// waits up to Config.IdleTime for another task of the same job, program, user and
// limits. That task gets a control socket and pipes of its own, so nothing of one
// attempt gets into the log of another. The program itself ends if anything of the old
// task is left. A process whose task failed, was killed, or ended by force runs no
// other.
//
// A process leads a process group. When it exits, the rest of its group is killed. When
// the daemon dies, the kernel kills the processes. If the daemon is root, a task runs
// as the user who submitted its job.
//
// The program of the daemon can be replaced by another one in the same process. Then the
// processes stay its children: Pause and HandOver give their state to the next program, whose
// Launcher gets it in Config.Handover.
//
// A cgroup enforces the memory limit if Config.Cgroup names a directory for cgroups.
// Otherwise the resident memory of each process group is sampled.
//
// Goroutines: one starts all processes, since the thread that starts a process must
// live as long as the process; one samples memory. Each process has one that waits for
// its exit, and, if it may run several tasks, one that waits for the end of each. Each
// task has two that read its output. Close ends them all.
package process
