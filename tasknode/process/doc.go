// Package process starts tasks as child processes of a tasknode:
//
//	launcher, err := process.New(process.Config{Programs: cache, LogDir: …})
//	node, err := tasknode.New(tasknode.Config{Launcher: launcher, …})
//	…
//	err = node.Run(ctx)
//	launcher.Close()
//
// The process of a task is the program that was submitted, started without
// arguments, with the mark taskproc.ControlVariable in its environment and a control
// socket on the descriptor that the mark names. Package mr sees the mark and runs
// the task.
//
//	tasknode ─── control socket, messages of taskproc ──► fd 3 ┐
//	         ◄── pipe, to the attempt's file "stdout" ─── fd 1 ├ process group of the task
//	         ◄── pipe, to the attempt's file "stderr" ─── fd 2 │
//	         ◄── it is over ──── the next one's ends ───► fd 4 ┘
//
// What a program prints is its log and nothing else. It is read as fast as it
// comes and kept to Config.LogBytes a stream, the beginning and the end, so that
// a program that prints gigabytes neither waits nor fills the disk.
//
// A process that has done its task may wait for another one of the same job,
// program, user and memory, for Config.IdleTime: a new process costs more than a
// small task. For the next task it gets a control socket and pipes of its own, so
// nothing of one attempt gets into another's log; the process itself looks after
// the rest, or ends if it is not as good as new. One whose task has failed, was
// told to end or has ended by force runs no other.
//
// A process is in a process group of its own and leads it. When it is gone, so is
// what it left behind in that group; when the daemon dies, the kernel kills it.
// Where the daemon is root, a task runs as the user who submitted its job.
//
// Memory is held by a cgroup where Config.Cgroup gives a directory for that, and
// else by looking at what the group has resident ten times a second.
//
// Goroutines: one starts all processes, as the thread that it is bound to must
// live for as long as they do; one looks at memory. Each process has one that
// waits for its end, and one that hears when a task is over if it may run
// others. Each task has two that read its output. Close ends them all.
package process
