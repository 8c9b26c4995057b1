package mr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task"
)

// ServeTask runs a task if a tasknode has started this process for a task. It finds the job
// of the task in programs, and may run further tasks of the same job. Then it exits. In any
// other process it returns at once.
//
// Main and Exec call it. A program that does anything before them, such as reading its
// arguments, calls it first in its main: a tasknode starts the program without arguments.
//
// Package variables keep their values from one task of a process to the next, as they do
// when a whole job runs in one process. The property mapreduce.job.jvm.numtasks with the
// value 1 gives each task a process of its own.
func ServeTask(programs ...Runnable) {
	conn, err := taskproc.Inherited()
	if conn == nil && err == nil {
		return
	}
	err = errors.Join(err, failpoint.Join())
	var next *taskproc.Next
	if err == nil {
		next, err = taskproc.InheritedNext()
	}
	if err == nil {
		err = serveTasks(conn, next, programs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "task:", err)
		os.Exit(ExitFailed)
	}
	os.Exit(ExitDone)
}

// serveTasks runs the task at the other end of conn, and then further tasks as long as the
// process can be reset. If next is nil, it runs one task.
//
//	Start ──> run ──> reports ──> reset the process ──> await the next task
//	            │ error, or not reset                      │ none comes
//	            └──> the process ends <────────────────────┘
//
// The jobs of the programs are built once; they do not depend on the task. The tables of side
// inputs remain for the next task if it reads the same ones.
func serveTasks(conn io.ReadWriteCloser, next *taskproc.Next, programs []Runnable) error {
	goroutines := runtime.NumGoroutine()
	enter := func(*taskproc.Start) error { return nil } // the tasknode has prepared the process
	jobs := sync.OnceValues(func() (map[string]anyJob, error) { return jobsOf(programs) })
	sides := new(task.SideTables)
	for {
		done, err := serveTask(taskproc.NewTaskEnd(conn), enter, jobs, sides)
		if err != nil || !done || next == nil || !resetProcess(goroutines) {
			return err
		}
		another, err := next.Await()
		if err != nil || another == nil {
			return err
		}
		conn, enter = another, enterAttempt
	}
}

// serveTask receives the Start of a task, prepares the process with enter, and runs the
// task. It reports whether the task has finished its work.
func serveTask(messages taskproc.TaskEnd, enter func(*taskproc.Start) error, jobs func() (map[string]anyJob, error), sides *task.SideTables) (done bool, err error) {
	start, err := messages.ReceiveStart()
	if err != nil {
		return false, err
	}
	if err := enter(start); err != nil {
		return false, refuse(messages, &taskproc.Failure{Cause: err.Error(), Offset: -1})
	}
	server, err := taskServer(start, jobs)
	if err != nil {
		return false, refuse(messages, &taskproc.Failure{Cause: err.Error(), Offset: -1, Fatal: true})
	}
	server.Sides = sides
	done, err = server.Run(context.Background(), messages, start)
	return done, errors.Join(err, server.Files.Close())
}

// refuse ends an attempt before it begins.
func refuse(messages taskproc.TaskEnd, why *taskproc.Failure) error {
	defer messages.Close()
	return messages.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Failure{Failure: why}})
}

// taskServer returns the server that runs the attempt of start. Each task of a process gets
// a new server, so that no file system or connection outlives a task.
func taskServer(start *taskproc.Start, jobs func() (map[string]anyJob, error)) (*task.Server, error) {
	c, err := conf.FromMap(start.Properties)
	if err != nil {
		return nil, err
	}
	all, err := jobs()
	if err != nil {
		return nil, err
	}
	router, err := fsconf.NewRouter(c, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return nil, err
	}
	tuneMemory(c, 1)
	known := make(task.Programs)
	for name, j := range all {
		known[name] = j
	}
	if j := all[start.Program]; j != nil {
		if err := checkGraph(j, c, start); err != nil {
			return nil, fmt.Errorf("job %s: %w", start.Program, err)
		}
	}
	return &task.Server{Programs: known, Files: router, Local: fsconf.Local(c), Log: os.Stderr, Memory: memoryLimit(c, start.Kind)}, nil
}

// memoryLimit returns the bytes that the process of a task may use.
func memoryLimit(c *conf.Conf, kind taskproc.Kind) int64 {
	if kind == taskproc.Kind_REDUCE {
		return c.Int64(conf.ReduceMemoryMB) << 20
	}
	return c.Int64(conf.MapMemoryMB) << 20
}

// jobsOf returns the jobs of several programs by their names for tasks.
func jobsOf(programs []Runnable) (map[string]anyJob, error) {
	all := make(map[string]anyJob)
	for _, r := range programs {
		jobs, err := r.program().jobs()
		if err != nil {
			return nil, err
		}
		for name, j := range jobs {
			name = r.program().taskName(name)
			if all[name] != nil {
				return nil, fmt.Errorf("two jobs named %s among the programs of this binary", name)
			}
			all[name] = j
		}
	}
	return all, nil
}

// checkGraph compares a job of this binary with the submitted job. A job's graph may depend
// on its configuration and on code, and a tasknode may have a binary of the same name that
// was built later. The numbers of Nodes that read inputs are not compared: they grow when a
// map is split.
func checkGraph(j anyJob, c *conf.Conf, start *taskproc.Start) error {
	det, err := j.details(start.Config)
	if err != nil {
		return err
	}
	submitted := dag.MapReduce(int(start.Maps), int(start.Reduces))
	if start.Graph != nil {
		submitted = taskproc.ToGraph(start.Graph)
	}
	nodes := make(map[string]int)
	for _, s := range submitted.Stages {
		nodes[s.Name] = s.Nodes
	}
	here := det.shape(c, nodes, reduces(det, c))
	if here.Fingerprint() != start.Fingerprint && here.Fingerprint() != submitted.Fingerprint() {
		return fmt.Errorf("this binary is not the one that submitted it: %s", difference(submitted, here))
	}
	if n := len(det.inputs); start.Split != nil && int(start.Split.Input) >= n {
		return fmt.Errorf("this binary is not the one that submitted it: that one has %d inputs or more, this one has %d", start.Split.Input+1, n)
	}
	return nil
}

// difference lists the lines in which the descriptions of two graphs differ, so that the user
// sees which stage or channel has changed.
func difference(submitted, here dag.Graph) string {
	var parts []string
	missing := func(from, in dag.Graph, what string) {
		for line := range strings.Lines(from.String()) {
			if !strings.Contains("\n"+in.String(), "\n"+line) {
				parts = append(parts, what+" "+strings.TrimSpace(line))
			}
		}
	}
	missing(submitted, here, "submitted with")
	missing(here, submitted, "here with")
	return strings.Join(parts, ", ")
}

// enterAttempt prepares a process for a further task, as the tasknode prepares a new
// process: it changes to the attempt's directory and resets the peak of memory. It also sets
// PWD, since programs that the task starts may read it.
func enterAttempt(start *taskproc.Start) error {
	if err := os.Chdir(start.LocalDir); err != nil {
		return err
	}
	counter.ResetPeak()
	return os.Setenv("PWD", start.LocalDir)
}

// The time that goroutines of a finished task have to end.
const (
	settleRounds = 20
	settlePause  = time.Millisecond
)

// largeHeapBytes is the size above which the heap of one task is returned to the system before
// the next task. The collector would otherwise let the heap grow to several times that size.
const largeHeapBytes = 64 << 20

// resetProcess returns the memory of a finished task to the system. It reports whether the
// process can run another task: the finished task has left no goroutine and no child
// process. Otherwise the process ends, and the next task gets a new one. goroutines is the
// number of goroutines before the task.
func resetProcess(goroutines int) bool {
	for round := 0; runtime.NumGoroutine() > goroutines; round++ {
		if round == settleRounds {
			return false
		}
		time.Sleep(settlePause)
	}
	if !taskproc.HasNoDescendants() {
		return false
	}
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > largeHeapBytes {
		debug.FreeOSMemory()
	}
	return true
}
