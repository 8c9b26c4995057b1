package mr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/console"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
)

// clusterOptions are the options that choose a cluster and say how to use it.
type clusterOptions struct {
	masters   string // "": HAMMR_MASTER; "local": the embedded engine
	tokenFile string // "": the usual places
	detach    bool
}

func (o *clusterOptions) list() string {
	if o.masters != "" {
		return o.masters
	}
	return os.Getenv(rpc.MasterVariable)
}

// remote reports whether jobs run on a cluster.
func (o *clusterOptions) remote() bool {
	list := o.list()
	return list != "" && list != "local"
}

// check refuses options that exclude each other. workers is 0 if the option is not given.
func (o *clusterOptions) check(workers int) error {
	switch {
	case !o.remote() && o.detach:
		return fmt.Errorf("%w: --detach without --master: the engine of this process ends with it", ErrUsage)
	case o.remote() && workers != 0:
		return fmt.Errorf("%w: --workers with --master: the slots of the cluster decide how many tasks run", ErrUsage)
	case o.remote():
		if _, err := rpc.ParseMasters(o.list()); err != nil {
			return fmt.Errorf("%w: %w", ErrUsage, err)
		}
	}
	return nil
}

// remoteClient returns the client of the cluster, made at the first call.
func (e *engine) remoteClient(d *Driver) (client.Client, error) {
	if e.remote != nil {
		return e.remote, nil
	}
	masters, err := rpc.ParseMasters(e.cluster.list())
	if err != nil {
		return nil, err
	}
	token, id, err := rpc.FindToken(e.cluster.tokenFile, masters)
	if err != nil {
		return nil, err
	}
	e.remote, err = remote.New(remote.Config{
		Resolve: d.files.Resolve,
		Config: rpc.Config{
			Masters: masters, Token: token, ClusterID: id, Timeout: d.conf.Duration(conf.ClientTimeout),
			OnWait: func(err error) { d.console.Log(console.Warn, console.ClassJob, err.Error()) },
		},
	})
	return e.remote, err
}

// errDetached ends a program whose job continues without it.
var errDetached = errors.New("the job continues without this program")

// runRemote runs a job on a cluster. With --detach it returns once the cluster has the job.
func (d *Driver) runRemote(ctx context.Context, c client.Client, spec *wire.JobSpec, splits []*taskproc.Split) (*wire.JobStatus, error) {
	if d.engine.cluster.detach && len(d.tempDirs) > 0 {
		return nil, fmt.Errorf("%w: --detach: %s runs several jobs and has to be there between them", ErrUsage, d.program.Name)
	}
	if err := d.qualifyNames(ctx, spec); err != nil {
		return nil, err
	}
	id, err := submitWhole(ctx, c, spec, splits)
	if err != nil {
		return nil, err
	}
	if d.engine.cluster.detach {
		d.detached = true
		fmt.Fprintln(d.Stdout, id)
		return nil, errDetached
	}
	d.console.Running(id)
	return d.watchRemote(ctx, c, spec, id)
}

// submitGrace is how long an active submission may still take after Ctrl-C.
const submitGrace = 10 * time.Second

// submitWhole submits a job. A submission that has begun outlives ctx by submitGrace, so
// that the user learns whether there is a job.
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

// watchRemote watches a job until it ends or the user detaches from it.
func (d *Driver) watchRemote(ctx context.Context, c client.Client, spec *wire.JobSpec, id string) (*wire.JobStatus, error) {
	var last *wire.JobStatus
	progress := d.newProgressReporter()
	stopBar := d.console.StartRefresh()
	status, err := c.Watch(ctx, id, func(s *wire.JobStatus) { last = s; progress.report(s) })
	stopBar()
	progress.stop()
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

func (d *Driver) interrupted() bool {
	select {
	case <-d.interrupt:
		return true
	default:
		return false
	}
}

// leave detaches from a job, which continues. last is its last known status, nil for none.
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

// waitCommand is the command that watches a job.
func (d *Driver) waitCommand(id string) string {
	command := "hammr job wait " + id
	if d.engine.cluster.masters != "" {
		command += " --master " + d.engine.cluster.masters
	}
	return command
}

// qualifyNames replaces the names of inputs and side files by full names, which mean the
// same on every machine. Splits and the output have full names already.
func (d *Driver) qualifyNames(ctx context.Context, spec *wire.JobSpec) error {
	spec.Inputs = slices.Clone(spec.Inputs)
	for i, name := range spec.Inputs {
		if fsys, p, err := d.files.Resolve(ctx, name); err == nil { // names of custom inputs may be no file names
			spec.Inputs[i] = storage.Name(fsys, p)
		}
	}
	side := spec.Properties[conf.Files]
	if side == "" {
		return nil
	}
	var full []string
	for name := range strings.SplitSeq(side, ",") {
		location, alias, found := strings.Cut(strings.TrimSpace(name), "#")
		if !found {
			alias = path.Base(location)
		}
		fsys, p, err := d.files.Resolve(ctx, location)
		if err != nil {
			return fmt.Errorf("side file: %w", err)
		}
		full = append(full, storage.Name(fsys, p)+"#"+alias)
	}
	spec.Properties[conf.Files] = strings.Join(full, ",")
	return nil
}
