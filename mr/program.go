package mr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/interrupt"
	"github.com/hammr/hammr/internal/task"
)

// Program is a command that runs one or more jobs. A single job needs no Program: Main
// accepts the job itself. A Program adds arguments of its own, or makes a chain of several
// jobs.
type Program struct {
	// Name is the command's name in help and messages; by convention the name of its main
	// job.
	Name string

	// Summary describes the program in one line.
	Summary string

	// Usage describes the arguments; default "<in> [<in>...] <out>".
	Usage string

	// Options are the program's own options that begin with two hyphens, such as
	// "--rounds", which Run finds in Driver.Args. Others are refused, unless Hammr
	// knows them.
	Options []string

	// Jobs lists all jobs that the program may run. A task finds its code here by the job's
	// name.
	Jobs []Runnable

	// Run runs on the client: it checks the arguments and runs jobs. By default it runs the
	// only job, with the last argument as output and the others as inputs. An error that
	// wraps ErrUsage shows the usage and exits with 2.
	Run func(ctx context.Context, d *Driver) error
}

const defaultUsage = "<in> [<in>...] <out>"

// program implements Runnable.
func (p *Program) program() *Program { return p }

// usage returns the description of the arguments in one line.
func (p *Program) usage() string {
	if p.Usage != "" {
		return p.Usage
	}
	return defaultUsage
}

// jobs returns the jobs of the program by name.
func (p *Program) jobs() (map[string]anyJob, error) {
	jobs := make(map[string]anyJob)
	for _, r := range p.Jobs {
		j, ok := r.(anyJob)
		if !ok {
			return nil, fmt.Errorf("program %s: a program among its jobs", p.Name)
		}
		if err := j.check(); err != nil {
			return nil, err
		}
		if jobs[j.Name()] != nil {
			return nil, fmt.Errorf("program %s: two jobs named %s", p.Name, j.Name())
		}
		jobs[j.Name()] = j
	}
	return jobs, nil
}

// taskName returns the name by which a task finds a job. It contains the program's name,
// since programs of one binary may have different jobs of one name.
func (p *Program) taskName(job string) string {
	if job == p.Name {
		return job
	}
	return p.Name + "/" + job
}

// tasks returns the program's jobs by the names by which attempts find them.
func (p *Program) tasks(jobs map[string]anyJob) task.Programs {
	programs := make(task.Programs)
	for name, j := range jobs {
		programs[p.taskName(name)] = j
	}
	return programs
}

// runSingleJob runs the only job of a Program; it is the default of Program.Run.
func runSingleJob(ctx context.Context, d *Driver) error {
	if len(d.Args) < 2 {
		return ErrUsage
	}
	last := len(d.Args) - 1
	return d.Run(ctx, d.program.Jobs[0], JobRun{In: slices.Clone(d.Args[:last]), Out: d.Args[last]})
}

// Exit codes. They equal the codes of Hadoop's client, and 130 for Ctrl-C as in a shell.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// Main runs a job or program for the life of the process, and exits:
//
//	func main() { mr.Main(wordcount) }
//
// The command line is Hadoop's: generic options (-D, -conf, -fs, -files), then the program's
// own arguments. "-h" shows them all.
//
// On a cluster the same binary runs the job's tasks: the client uploads it, and tasknodes start
// it without arguments. See ServeTask. So a main calls nothing else before Main.
func Main(r Runnable) {
	os.Exit(Exec(r, os.Args[1:]))
}

// Exec runs a job or program with the standard streams and signals of the process, and
// returns the exit code. In a process that is a task it does not return. See ServeTask.
func Exec(r Runnable, args []string) int {
	ServeTask(r)
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	return Run(ctx, r, args, os.Stdout, os.Stderr)
}

// Run runs a job or program with args and returns the exit code. If ctx ends, that counts as
// Ctrl-C. If a write to stdout fails, a program that has succeeded fails with ExitFailed.
func Run(ctx context.Context, r Runnable, args []string, stdout, stderr io.Writer) int {
	p := r.program()
	out := console.NewOutput(stdout)
	return out.Finish(p.Name, run(ctx, p, args, out, stderr), stderr)
}

// run runs a program with args and returns the exit code.
func run(ctx context.Context, p *Program, args []string, stdout, stderr io.Writer) int {
	opts, err := parseArgs(args, p.Options)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		printUsage(stderr, p)
		return ExitUsage
	case opts.help:
		printHelp(stdout, p)
		return ExitDone
	}
	err = runProgram(ctx, p, opts, stdout, stderr)
	return exitCode(ctx, p, err, stderr)
}

// exitCode shows an error, unless it was shown before, and returns the exit code for it. After
// Ctrl-C it shows nothing, because the error follows from the interrupt.
func exitCode(ctx context.Context, p *Program, err error, stderr io.Writer) int {
	var job *JobError
	switch {
	case ctx.Err() != nil:
		return ExitInterrupted
	case err == nil, errors.Is(err, errDetached), errors.Is(err, errShown):
		return ExitDone
	case errors.Is(err, ErrUsage):
		if err != ErrUsage {
			fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		}
		printUsage(stderr, p)
		return ExitUsage
	case errors.As(err, &job):
		return ExitFailed // the console has shown the cause
	}
	fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
	return ExitFailed
}

// runProgram runs the part of a program that runs on the client. It writes the report and
// closes the driver even after an error, and returns all errors joined.
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

// newDriver checks everything that can be wrong before any work is done: the options, the jobs,
// the report's file, the configuration and the file systems' names. It opens no file system and
// connects to no cluster.
func newDriver(ctx context.Context, p *Program, o *options, stdout, stderr io.Writer) (*Driver, error) {
	if err := o.cluster.check(o.workers, o.ui); err != nil {
		return nil, err
	}
	jobs, err := p.jobs()
	if err != nil {
		return nil, err
	}
	d := &Driver{
		Args: o.args, Stdout: stdout, Stderr: stderr,
		program: p, jobs: jobs,
		engine:    engine{workers: o.workers, cluster: o.cluster, ui: o.ui},
		interrupt: ctx.Done(),
		report:    reporter{path: o.report},
		show:      o.show,
	}
	if o.report != "" {
		if err := report.Check(o.report); err != nil {
			return nil, err
		}
	}
	// With --dag or --explain it shows errors only, so that the output is what was asked for alone.
	d.console = console.On(stderr, o.quiet || o.show != nil)
	if d.conf, err = o.configuration(d.console); err != nil {
		return nil, err
	}
	d.files, err = fsconf.NewInteractiveRouter(d.conf, nil)
	return d, err
}
