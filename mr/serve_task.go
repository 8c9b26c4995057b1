package mr

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/files"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/internal/taskproc"
)

// ServeTask makes the process a task if a tasknode has started it to be one: it
// runs that task with the job of these programs that it belongs to, and exits.
// In any other process it returns at once.
//
// Main and Exec call it. A program that does something before them, such as
// reading its arguments, calls it first in its main: a tasknode starts the
// program without arguments.
func ServeTask(programs ...Runnable) {
	conn, err := taskproc.Inherited()
	if conn == nil && err == nil {
		return
	}
	if err == nil {
		err = serveTask(taskproc.NewTaskEnd(conn), programs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "task:", err)
		os.Exit(ExitFailed)
	}
	os.Exit(ExitDone)
}

// serveTask runs the task whose Start comes first.
func serveTask(messages taskproc.TaskEnd, programs []Runnable) error {
	start, err := messages.ReceiveStart()
	if err != nil {
		return err
	}
	server, err := taskServer(start, programs)
	if err != nil {
		defer messages.Close()
		return messages.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Failure{
			Failure: &taskproc.Failure{Cause: err.Error(), Offset: -1, Fatal: true},
		}})
	}
	return server.Run(context.Background(), messages, start)
}

// taskServer is what runs the attempt that start is about.
func taskServer(start *taskproc.Start, programs []Runnable) (*task.Server, error) {
	c, err := conf.FromMap(start.Properties)
	if err != nil {
		return nil, err
	}
	router, err := files.NewRouter(c, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return nil, err
	}
	tuneMemory(c, 1)
	jobs, err := jobsOf(programs)
	if err != nil {
		return nil, err
	}
	known := make(task.Programs)
	for name, j := range jobs {
		known[name] = j
	}
	if j := jobs[start.Program]; j != nil {
		if err := checkGraph(j.details(), c, start); err != nil {
			return nil, fmt.Errorf("job %s: %w", start.Program, err)
		}
	}
	return &task.Server{Programs: known, Files: router, Local: files.Local(c), Log: os.Stderr}, nil
}

// jobsOf are the jobs of several programs, as tasks name them.
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

// checkGraph compares a job of this binary with the one that was submitted. The
// number of its maps is not this binary's business, and grows when one is split.
func checkGraph(det details, c *conf.Conf, start *taskproc.Start) error {
	here := dag.MapReduce(int(start.Maps), reduces(det, c))
	submitted := dag.MapReduce(int(start.Maps), int(start.Reduces))
	if here.Fingerprint() != start.Fingerprint && here.Fingerprint() != submitted.Fingerprint() {
		return fmt.Errorf("this binary is not the one that submitted it: %s", difference(submitted, here))
	}
	if n := len(det.inputs); start.Split != nil && int(start.Split.Input) >= n {
		return fmt.Errorf("this binary is not the one that submitted it: that has an input %d, here are %d", start.Split.Input+1, n)
	}
	return nil
}

// difference tells which lines of the description of one graph are not in that
// of the other.
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
