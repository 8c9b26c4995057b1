package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// newTask returns the verbs for tasks and attempts. They ask the leader, which sends orders
// to the tasknodes.
func (r clusterCommands) newTask() *cobra.Command {
	return group(&cobra.Command{
		Use:     "task",
		Short:   "Inspect and profile tasks, and end or preempt their attempts",
		Example: "  hammr task list job_1763700000000_0001",
	}, r.newTaskList(), r.newTaskLogs(), r.verb(taskKill), r.verb(taskFail), r.newTaskPreempt(), r.newTaskStacks(),
		r.newProfile("attempt", "ATTEMPT", "task profile attempt_1763700000000_0001_m_000000_0"))
}

// newTaskList lists the tasks of a job, running or finished.
func (r clusterCommands) newTaskList() *cobra.Command {
	var state, kind string
	cmd := show(r, &cobra.Command{
		Use:     "list JOB [--type map|reduce] [--state STATE]",
		Short:   "List the tasks of a job with their attempts",
		Example: "  hammr task list job_1763700000000_0001 --state running",
		Args:    oneArg("the id of a job"),
	}, func(ctx context.Context, q *query) ([]report.Task, error) {
		s, err := q.job(ctx, q.args[0], true)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(apidoc.Tasks(s), func(t report.Task) bool {
			return state != "" && string(t.State) != strings.ToUpper(state) || kind != "" && string(t.Type) != strings.ToUpper(kind)
		}), nil
	}, (*query).writeTasks)
	cmd.Flags().StringVar(&state, "state", "", "list tasks in one `state`: pending, checkpointed, running, suspended, succeeded, failed or killed")
	cmd.Flags().StringVar(&kind, "type", "", "list tasks of one `kind`: map or reduce")
	return cmd
}

// writeTasks prints a line for each task, with its last attempt.
func (q *query) writeTasks(tasks []report.Task) {
	t := table{heading: []string{"TaskId", "Type", "State", "Attempts", "Node", "StartTime", "Elapsed"}}
	for _, task := range tasks {
		row := []string{task.ID, string(task.Type), string(task.State), strconv.Itoa(len(task.Attempts)), "", "", ""}
		// A task that has not started has empty cells for the attempt.
		if n := len(task.Attempts); n > 0 {
			last := task.Attempts[n-1]
			row[4], row[5], row[6] = last.Tasknode, q.time(last.StartTime), elapsed(last)
		}
		t.add(row...)
	}
	t.write(q.stdout)
}

// elapsed returns how long an attempt ran. It returns "" if the attempt still runs, because
// the clock of this machine may differ from the tasknode's.
func elapsed(a report.Attempt) string {
	if a.FinishTime == 0 {
		return ""
	}
	return (time.Duration(a.FinishTime-a.StartTime) * time.Millisecond).String()
}

// taskKill and taskFail end attempts; the second counts as a failure of the task. Both exit when the leader has
// the change in its log; the process ends a moment later.
var (
	taskKill = changeVerb{
		do: "attempt.kill", use: "kill TASK|ATTEMPT...", short: "Kill running attempts; their tasks are retried", done: "Killed task %s",
		long: `Kill running attempts; their tasks are retried. A kill does not count as a
failure. The id of a task means its running attempts.`,
		example: "  hammr task kill attempt_1763700000000_0001_m_000000_0",
	}
	taskFail = changeVerb{
		do: "attempt.fail", use: "fail TASK|ATTEMPT...", short: "Kill running attempts and count that as failures", done: "Killed task %s by failing",
		long: `Kill running attempts and count that as failures: a task that has failed often
enough fails its job. The id of a task means its running attempts.`,
		example: "  hammr task fail attempt_1763700000000_0001_m_000000_0",
	}
)

// forEachAttempt calls do for every attempt that the arguments name, and returns all errors.
func (q *query) forEachAttempt(ctx context.Context, do func(id string) error) error {
	return q.forEach(func(id string) error {
		attempts, err := q.attemptsOf(ctx, id)
		for _, attempt := range attempts {
			err = errors.Join(err, do(attempt))
		}
		return err
	})
}

// attemptsOf returns the attempts that an id stands for. The id of an attempt stands for
// that attempt, the id of a task for the task's running attempts. A task without a running
// attempt is an error; then nothing is changed.
func (q *query) attemptsOf(ctx context.Context, id string) ([]string, error) {
	job, err := jobOf(id)
	switch {
	case err != nil:
		return nil, err
	case strings.HasPrefix(id, "attempt_"):
		return []string{id}, nil
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

// jobOf returns the id of the job that a task or an attempt belongs to. The ids are
// task_CLUSTER_JOB_m_NUMBER and attempt_CLUSTER_JOB_m_NUMBER_TRY, as in Hadoop.
func jobOf(id string) (string, error) {
	parts := strings.Split(id, "_")
	if len(parts) < 5 || parts[0] != "task" && parts[0] != "attempt" {
		return "", fmt.Errorf("%q is neither a task nor an attempt; write task_... or attempt_...", id)
	}
	return "job_" + parts[1] + "_" + parts[2], nil
}

// preemptModes are the modes of `task preempt`: all but wait, which takes no slot.
var preemptModes = slices.DeleteFunc(slices.Clone(preempt.Modes), func(m preempt.Mode) bool { return m == preempt.Wait })

// newTaskPreempt exits with 1 if an attempt cannot be preempted by the mode, and its error
// says why. With --resume it exits with 1 if an attempt finds no free slot.
func (r clusterCommands) newTaskPreempt() *cobra.Command {
	var mode string
	var resume bool
	cmd := r.command(&cobra.Command{
		Use:   "preempt ATTEMPT|TASK... --how split|checkpoint|suspend|kill|auto",
		Short: "Preempt running attempts, or resume suspended ones",
		Long: `Preempt running attempts: take their slots and keep their work. Preemption does
not count as a failure. The id of a task means its running attempts. The mode of
--how is

  split       a map publishes what it has read; the rest becomes a new task
  checkpoint  the attempt writes its state and ends; its task resumes from there
  suspend     the attempt is suspended in memory and resumes when its machine
              has a free slot
  kill        the attempt ends at once and its work is lost
  auto        the cheapest of these

The policy assigns the slots, possibly to the same task. The attempts of a gang
are preempted together. With checkpoint they resume together, anywhere, when
there are slots for all; with suspend, when all their machines have slots; with
kill all start over. No attempt of a gang is split.

With --resume, suspended attempts get their slots back if they are free.`,
		Example: `  hammr task preempt attempt_1763700000000_0001_m_000000_0 --how split
  hammr task preempt task_1763700000000_0001_r_000000 --how suspend
  hammr task preempt task_1763700000000_0001_r_000000 --resume`,
		Args: func(cmd *cobra.Command, args []string) error {
			err := someArgs("the id of a task or of an attempt")(cmd, args)
			switch {
			case err != nil:
				return err
			case resume && mode != "":
				return errors.New("--how and --resume exclude each other")
			case resume:
				return nil
			}
			return checkMode(mode, preemptModes)
		},
	}, func(ctx context.Context, q *query) error {
		return q.forEachAttempt(ctx, func(id string) error {
			if resume {
				return q.change(ctx, wire.NewChange("attempt.resume", id, ""), "Resumed attempt %s", id)
			}
			used, err := q.Change(ctx, wire.NewChange("attempt.preempt", id, mode))
			return q.changed(err, "task", apidoc.Change{ID: id, Done: used.GetDone(), To: used.GetTo()}, "Preempted attempt %s by %s", id, used.GetTo())
		})
	})
	cmd.Flags().StringVar(&mode, "how", "", "preemption `mode`: split, checkpoint, suspend, kill or auto")
	cmd.Flags().BoolVar(&resume, "resume", false, "resume suspended attempts instead")
	return cmd
}
