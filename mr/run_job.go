package mr

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// killedByUser is the cause of jobs that the user kills.
const killedByUser = "killed by the user"

// submitAndWatch runs one job and returns its final status. With --dag or --explain it shows
// the job instead and returns errShown; with --detach it returns errDetached.
func (d *Driver) submitAndWatch(ctx context.Context, j anyJob, run JobRun) (*wire.JobStatus, error) {
	if status, err := d.continueJob(ctx, j, run); status != nil || err != nil {
		return status, err
	}
	spec, splits, err := d.prepare(ctx, j, run)
	if err != nil {
		return nil, err
	}
	if d.show != nil && d.show.explain {
		return nil, d.explainJob(ctx, j, run, spec, splits)
	}
	if d.show != nil {
		return nil, d.showJob(j.Name(), taskproc.ToGraph(spec.Graph))
	}
	if err := d.engine.checkFits(taskproc.ToGraph(spec.Graph)); err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Name(), err)
	}
	engine, err := d.engine.client(ctx, d)
	if err != nil {
		return nil, err
	}
	if d.engine.cluster.remote() {
		return d.runRemote(ctx, engine, spec, splits)
	}
	id, err := submitWhole(ctx, engine, spec, splits)
	if err != nil {
		return nil, err
	}
	d.console.Running(id)
	return d.watchToEnd(ctx, engine, spec, id)
}

// watchToEnd watches a job until it ends. The end of ctx kills the job, which is then watched
// further until all of it is removed.
func (d *Driver) watchToEnd(ctx context.Context, c client.Client, spec *wire.JobSpec, id string) (*wire.JobStatus, error) {
	stop := context.AfterFunc(ctx, func() {
		_ = c.Kill(context.WithoutCancel(ctx), id, killedByUser)
	})
	defer stop()
	// A killed job is watched until it has ended, when all of it is removed.
	status, err := d.watch(context.WithoutCancel(ctx), c, id, func(*wire.JobStatus) {})
	if err != nil {
		return nil, err
	}
	return status, d.conclude(ctx, spec, status)
}

// errDetached ends a program whose job continues without it.
var errDetached = errors.New("the job continues without this program")

// runRemote runs a job on a cluster. With --detach it returns once the cluster has the job. A
// program of several jobs cannot detach, since the jobs after the first run only while it runs.
func (d *Driver) runRemote(ctx context.Context, c client.Client, spec *wire.JobSpec, splits []*taskproc.Split) (*wire.JobStatus, error) {
	if d.engine.cluster.detach && len(d.tempDirs) > 0 {
		return nil, fmt.Errorf("%w: --detach: %s runs several jobs and has to run until the last one starts; leave out --detach", ErrUsage, d.program.Name)
	}
	if err := d.qualifyNames(ctx, spec); err != nil {
		return nil, err
	}
	id, err := submitWhole(ctx, c, spec, splits)
	if err == nil {
		_, err = claim(id)
	}
	if err != nil {
		return nil, err
	}
	return d.follow(ctx, c, spec, id)
}

// follow watches a job that the cluster has. With --detach it only prints its id.
func (d *Driver) follow(ctx context.Context, c client.Client, spec *wire.JobSpec, id string) (*wire.JobStatus, error) {
	if d.engine.cluster.detach {
		d.detached = true
		fmt.Fprintln(d.Stdout, id)
		return nil, errDetached
	}
	d.console.Running(id)
	return d.watchRemote(ctx, c, spec, id)
}

// submitGrace is the time that an active submission may still take after Ctrl-C.
const submitGrace = 10 * time.Second

// submitWhole submits a job. A submission that has begun outlives ctx by submitGrace, so
// that the user learns whether there is a job, and a local job is killed and cleaned up.
// Otherwise Ctrl-C during the submission could leave a job that the terminal does not mention.
func submitWhole(ctx context.Context, c client.Client, spec *wire.JobSpec, splits []*taskproc.Split) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	outlives, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-outlives.Done():
		case <-time.After(submitGrace):
			cancel(context.Cause(ctx))
		}
	})
	defer stop()
	return c.Submit(outlives, spec, splits)
}

// watchRemote watches a job on a cluster until it ends or the user detaches from it:
//
//	the job ends                        → its status
//	the connection fails                → an error with the command that watches it again
//	Ctrl-C, and the user confirms       → the job is killed, and watched to its end
//	Ctrl-C otherwise                    → errDetached; the job continues
//	the program's own context ends      → the job is killed
func (d *Driver) watchRemote(ctx context.Context, c client.Client, spec *wire.JobSpec, id string) (*wire.JobStatus, error) {
	var last *wire.JobStatus
	status, err := d.watch(ctx, c, id, func(s *wire.JobStatus) { last = s })
	switch {
	case err == nil:
		return status, d.conclude(ctx, spec, status)
	case ctx.Err() == nil:
		return nil, fmt.Errorf("connection to job %s lost, which may still run; watch it with %q: %w", id, d.waitCommand(id), err)
	case !d.interrupted() || d.confirmKill(id):
		return d.watchToEnd(ctx, c, spec, id)
	}
	return nil, d.leave(spec, id, last)
}

// watch shows the progress of a job until it ends, and passes each status to observe. When
// it returns, the console shows nothing more of the job.
func (d *Driver) watch(ctx context.Context, c client.Client, id string, observe func(*wire.JobStatus)) (*wire.JobStatus, error) {
	progress := d.newProgressReporter()
	defer progress.stop()
	defer d.console.StartRefresh()()
	return c.Watch(ctx, id, func(s *wire.JobStatus) { observe(s); progress.report(s) })
}

// interrupted reports whether the user has pressed Ctrl-C, as opposed to a context that the
// program itself has cancelled.
func (d *Driver) interrupted() bool {
	select {
	case <-d.interrupt:
		return true
	default:
		return false
	}
}

// leave detaches from a job, which continues. last is the last known status of the job, or
// nil. The report contains this status.
func (d *Driver) leave(spec *wire.JobSpec, id string, last *wire.JobStatus) error {
	d.detached = true
	if last == nil {
		last = &wire.JobStatus{JobId: id, Name: spec.Name, User: spec.User, State: wire.JobState_PREP}
	}
	doc := report.FromStatus(last, spec.Properties)
	d.report.last = &doc
	d.console.Clear()
	fmt.Fprintf(d.Stderr, "Job %s continues. Watch it with: %s\n", id, d.waitCommand(id))
	return errDetached
}

// waitCommand returns the command that watches a job.
func (d *Driver) waitCommand(id string) string {
	command := "hammr job wait " + id
	if d.engine.cluster.masters != "" {
		command += " --master " + d.engine.cluster.masters
	}
	return command
}

// confirmKill asks a user at a terminal whether to kill a job. A second Ctrl-C means no.
// Without a terminal the answer is no.
func (d *Driver) confirmKill(id string) bool {
	out, ok := d.Stderr.(*os.File)
	if !ok || !console.IsTerminal(out) || !console.IsTerminal(os.Stdin) {
		return false
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	return confirm(out, os.Stdin, again, fmt.Sprintf("\nKill job %s? [y/N] ", id))
}

// confirm asks a question and reports whether the answer begins with y. A signal on again
// means no. The goroutine that waits for the line then remains until the process ends.
func confirm(out io.Writer, in io.Reader, again <-chan os.Signal, question string) bool {
	fmt.Fprint(out, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // an error means no
		answer <- line
	}()
	select {
	case line := <-answer:
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
	case <-again:
		fmt.Fprintln(out)
		return false
	}
}
