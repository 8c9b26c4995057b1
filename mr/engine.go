package mr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/console"
	"github.com/hammr/hammr/internal/embedded"
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/task"
)

// engine runs jobs: on a cluster, or in the embedded engine, which starts at the first job.
type engine struct {
	workers  int
	embedded *embedded.Engine // nil until the first job
	cluster  clusterOptions
	remote   *remote.Client // nil until the first job on a cluster
}

func (e *engine) client(ctx context.Context, d *Driver) (client.Client, error) {
	if e.cluster.remote() {
		return e.remoteClient(d)
	}
	if e.embedded != nil {
		return e.embedded.Client(), nil
	}
	slots := e.slots()
	server := &task.Server{Programs: d.program.tasks(d.jobs), Files: d.files, Local: fsconf.Local(d.conf)}
	tuneMemory(d.conf, e.workers)
	running, err := embedded.Start(context.WithoutCancel(ctx), embedded.Config{
		MapSlots: slots, ReduceSlots: slots,
		LocalDir: localDir(d.conf),
		Resolve:  d.files.Resolve,
		Serve:    server.Serve,
	})
	if err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	e.embedded = running
	return running.Client(), nil
}

// slots is the number of map slots, and of reduce slots, of the embedded engine.
func (e *engine) slots() int {
	if e.workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return e.workers
}

// checkFits refuses a graph whose gangs would wait forever in this process. A cluster checks
// this itself.
func (e *engine) checkFits(g dag.Graph) error {
	if e.cluster.remote() {
		return nil
	}
	if err := g.CheckFits([]dag.SlotCounts{{Map: e.slots(), Reduce: e.slots()}}); err != nil {
		return fmt.Errorf("%w; raise --workers, or run it on a cluster", err)
	}
	return nil
}

func (e *engine) close() error {
	var faults []error
	if e.embedded != nil {
		faults = append(faults, e.embedded.Close())
	}
	if e.remote != nil {
		faults = append(faults, e.remote.Close())
	}
	return errors.Join(faults...)
}

// reporter keeps the report of the last job for --report.
type reporter struct {
	path string // "": no report
	last *report.Report
}

func (r *reporter) write() error {
	if r.path == "" || r.last == nil {
		return nil
	}
	return report.WriteFile(r.path, *r.last)
}

// runProgram runs the part of a program that runs on the client.
func runProgram(ctx context.Context, p *Program, o *options, stdout, stderr io.Writer) (err error) {
	d, err := newDriver(ctx, p, o, stdout, stderr)
	if err != nil {
		return err
	}
	defer func() {
		d.console.Clear()
		if end := errors.Join(d.report.write(), d.close(context.WithoutCancel(ctx))); end != nil {
			err = errors.Join(err, end)
		}
	}()
	run := p.Run
	if run == nil {
		run = runSingleJob
	}
	return d.showOrRun(ctx, run)
}

func newDriver(ctx context.Context, p *Program, o *options, stdout, stderr io.Writer) (*Driver, error) {
	if err := o.cluster.check(o.workers); err != nil {
		return nil, err
	}
	jobs, err := p.jobs()
	if err != nil {
		return nil, err
	}
	d := &Driver{
		Args: o.args, Stdout: stdout, Stderr: stderr,
		program: p, jobs: jobs,
		engine:    engine{workers: o.workers, cluster: o.cluster},
		interrupt: ctx.Done(),
		report:    reporter{path: o.report},
		show:      o.show,
	}
	if o.report != "" {
		if err := report.Check(o.report); err != nil {
			return nil, err
		}
	}
	d.console = newConsole(o, stderr)
	if d.conf, err = o.configuration(d.console); err != nil {
		return nil, err
	}
	d.files, err = fsconf.NewRouter(d.conf, nil)
	return d, err
}

// localDir is the directory for spills: the first one that is set, else the system's
// directory for temporary files.
func localDir(c *conf.Conf) string {
	if dirs := c.Strings(conf.LocalDir); len(dirs) > 0 {
		return dirs[0]
	}
	return ""
}

func newConsole(o *options, stderr io.Writer) *console.Console {
	opts := console.Options{Err: stderr, Quiet: o.quiet || o.show != nil}
	if f, ok := stderr.(*os.File); ok {
		opts.Terminal, opts.Width = console.IsTerminal(f), console.TerminalWidth(f)
	}
	return console.New(opts)
}
