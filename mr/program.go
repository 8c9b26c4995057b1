package mr

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/task"
)

// Program is a command that runs one or more jobs.
type Program struct {
	// Name is the command's name in help and messages; by convention that of its main job.
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

func (p *Program) program() *Program { return p }

func (p *Program) usage() string {
	if p.Usage != "" {
		return p.Usage
	}
	return defaultUsage
}

// jobs are the jobs of the program, by name.
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

// taskName is the name of a job for tasks. It is qualified by the program's, since programs
// of one binary may have different jobs of one name.
func (p *Program) taskName(job string) string {
	if job == p.Name {
		return job
	}
	return p.Name + "/" + job
}

// tasks returns the program's jobs as attempts find them.
func (p *Program) tasks(jobs map[string]anyJob) task.Programs {
	programs := make(task.Programs)
	for name, j := range jobs {
		programs[p.taskName(name)] = j
	}
	return programs
}

// runSingleJob is the default Run.
func runSingleJob(ctx context.Context, d *Driver) error {
	if len(d.Args) < 2 {
		return ErrUsage
	}
	last := len(d.Args) - 1
	return d.Run(ctx, d.program.Jobs[0], JobRun{In: slices.Clone(d.Args[:last]), Out: d.Args[last]})
}
