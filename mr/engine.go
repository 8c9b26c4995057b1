package mr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/console"
	"github.com/hammr/hammr/internal/embedded"
	"github.com/hammr/hammr/internal/files"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/task"
)

// engine is what jobs run on: the embedded one, started at the first job.
type engine struct {
	workers int
	running *embedded.Engine
}

func (e *engine) client(ctx context.Context, d *Driver) (client.Client, error) {
	if e.running != nil {
		return e.running.Client(), nil
	}
	server := &task.Server{Programs: d.program.tasks(d.jobs), Files: d.files, Local: files.Local(d.conf)}
	tuneMemory(d.conf, e.workers)
	running, err := embedded.Start(context.WithoutCancel(ctx), embedded.Config{
		MapSlots: e.workers, ReduceSlots: e.workers,
		LocalDir: localDir(d.conf),
		Resolve:  d.files.Resolve,
		Serve:    server.Serve,
	})
	if err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	e.running = running
	return running.Client(), nil
}

func (e *engine) close() error {
	if e.running == nil {
		return nil
	}
	return e.running.Close()
}

// reporter keeps what --report is to say: the last job that ran.
type reporter struct {
	path string // "" for no report
	last *report.Report
}

func (r *reporter) write() error {
	if r.path == "" || r.last == nil {
		return nil
	}
	return report.WriteFile(r.path, *r.last)
}

// runProgram runs the client's part of a program.
func runProgram(ctx context.Context, p *Program, o *options, stdout, stderr io.Writer) (err error) {
	d, err := newDriver(p, o, stdout, stderr)
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
		run = runOnly
	}
	return run(ctx, d)
}

func newDriver(p *Program, o *options, stdout, stderr io.Writer) (*Driver, error) {
	jobs, err := p.jobs()
	if err != nil {
		return nil, err
	}
	d := &Driver{
		Args: o.args, Stdout: stdout, Stderr: stderr,
		program: p, jobs: jobs,
		engine: engine{workers: o.workers},
		report: reporter{path: o.report},
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
	d.files, err = files.NewRouter(d.conf, nil)
	return d, err
}

// localDir is where spills go: the first of the directories set, else the
// system's place for temporary files.
func localDir(c *conf.Conf) string {
	if dirs := c.Strings(conf.LocalDir); len(dirs) > 0 {
		return dirs[0]
	}
	return ""
}

func newConsole(o *options, stderr io.Writer) *console.Console {
	opts := console.Options{Err: stderr, Quiet: o.quiet}
	if f, ok := stderr.(*os.File); ok {
		opts.Terminal, opts.Width = console.IsTerminal(f), console.TerminalWidth(f)
	}
	return console.New(opts)
}
