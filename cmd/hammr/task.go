package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/wire"
)

func (r clusterCommands) newTask() *cobra.Command {
	return group(&cobra.Command{
		Use:     "task",
		Short:   "Look at tasks of a job, and end or preempt attempts at them",
		Example: "  hammr task list job_1763700000000_0001",
	}, r.newTaskList(), r.newTaskLogs(), r.newTaskKill(false), r.newTaskKill(true), r.newTaskPreempt())
}

func (r clusterCommands) newTaskList() *cobra.Command {
	var state, kind string
	cmd := r.command(&cobra.Command{
		Use:     "list JOB [--type map|reduce] [--state STATE]",
		Short:   "List the tasks of a job with their attempts",
		Example: "  hammr task list job_1763700000000_0001 --state running",
		Args:    oneArg("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		s, err := q.job(ctx, q.args[0], true)
		if err != nil {
			return err
		}
		tasks := []report.Task{}
		for i, t := range document(s).Tasks {
			if taskState(t, s.Tasks[i]) == strings.ToUpper(state) || state == "" {
				if kind == "" || string(t.Type) == strings.ToUpper(kind) {
					t.State = report.State(taskState(t, s.Tasks[i]))
					tasks = append(tasks, t)
				}
			}
		}
		return q.answer(tasks, func(w io.Writer) { q.writeTasks(w, tasks) })
	})
	cmd.Flags().StringVar(&state, "state", "", "list those in one `state`: pending, paused, running, suspended, succeeded, failed or killed")
	cmd.Flags().StringVar(&kind, "type", "", "list those of one `kind`: map or reduce")
	return cmd
}

// taskState tells what waits for a slot, from the beginning or from a checkpoint,
// and what stands still from what runs.
func taskState(t report.Task, s *wire.TaskStatus) string {
	switch {
	case t.State != report.Running:
	case s.State == wire.TaskState_TASK_PENDING:
		return "PENDING"
	case s.State == wire.TaskState_TASK_PAUSED:
		return "PAUSED"
	case allSuspended(s):
		return "SUSPENDED"
	}
	return string(t.State)
}

// allSuspended reports whether all attempts at a task that run are suspended.
func allSuspended(s *wire.TaskStatus) bool {
	still := false
	for _, a := range s.Attempts {
		if a.State == wire.AttemptState_ATTEMPT_RUNNING {
			if !a.Suspended {
				return false
			}
			still = true
		}
	}
	return still
}

func (q *query) writeTasks(w io.Writer, tasks []report.Task) {
	t := table{heading: []string{"TaskId", "Type", "State", "Attempts", "Node", "StartTime", "Elapsed"}}
	for _, task := range tasks {
		row := []string{task.ID, string(task.Type), string(task.State), strconv.Itoa(len(task.Attempts)), "", "", ""}
		if n := len(task.Attempts); n > 0 {
			last := task.Attempts[n-1]
			row[4], row[5], row[6] = last.Node, q.time(last.StartTime), elapsed(last)
		}
		t.add(row...)
	}
	t.write(w)
}

func elapsed(a report.Attempt) string {
	if a.FinishTime == 0 {
		return ""
	}
	return (time.Duration(a.FinishTime-a.StartTime) * time.Millisecond).String()
}

// newTaskKill is `task kill`, which costs the task nothing, and `task fail`, which
// costs it one of its attempts.
func (r clusterCommands) newTaskKill(fail bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kill TASK|ATTEMPT...",
		Short: "End attempts that run; their tasks are tried again",
		Long: `End attempts that run; their tasks are tried again. It does not count as a
failure. The id of a task stands for its attempts that run.`,
		Example: "  hammr task kill attempt_1763700000000_0001_m_000000_0",
		Args:    someArgs("the id of a task or of an attempt"),
	}
	done, words := "killed", "Killed task %s"
	if fail {
		cmd.Use, cmd.Short = "fail TASK|ATTEMPT...", "End attempts that run, as if they had failed"
		cmd.Long = `End attempts that run, as if they had failed: a task that has failed often
enough fails its job. The id of a task stands for its attempts that run.`
		cmd.Example = "  hammr task fail attempt_1763700000000_0001_m_000000_0"
		done, words = "failed", words+" by failing"
	}
	return r.command(cmd, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			attempts, err := q.attemptsOf(ctx, id)
			if err != nil {
				return err
			}
			for _, attempt := range attempts {
				switch err := q.EndAttempt(ctx, attempt, fail); {
				case errors.Is(err, client.ErrUnknown):
					return notFound{"task", attempt}
				case err != nil:
					return err
				}
				q.report(change{ID: attempt, Done: done}, words, attempt)
			}
			return nil
		})
	})
}

// attemptsOf are the attempts that an id of a task or of an attempt stands for.
func (q *query) attemptsOf(ctx context.Context, id string) ([]string, error) {
	job, err := jobOf(id)
	if err != nil || strings.HasPrefix(id, "attempt_") {
		return []string{id}, err
	}
	s, err := q.job(ctx, job, true)
	if err != nil {
		return nil, err
	}
	var running []string
	for _, t := range s.Tasks {
		for _, a := range t.Attempts {
			if t.Id == id && a.State == wire.AttemptState_ATTEMPT_RUNNING {
				running = append(running, a.Id)
			}
		}
	}
	if len(running) == 0 {
		return nil, fmt.Errorf("task %s has no attempt that runs", id)
	}
	return running, nil
}

// jobOf is the id of the job that a task or an attempt belongs to.
func jobOf(id string) (string, error) {
	parts := strings.Split(id, "_")
	if len(parts) < 5 || parts[0] != "task" && parts[0] != "attempt" {
		return "", fmt.Errorf("%q is neither a task nor an attempt; write task_... or attempt_...", id)
	}
	return "job_" + parts[1] + "_" + parts[2], nil
}
