package mr

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/task"
)

// Program is a command made of one or more jobs.
type Program struct {
	// Name is what the command is called in help and messages; by custom the
	// name of its main job.
	Name string

	// Summary says in one line what it does.
	Summary string

	// Usage is what its arguments are; default "<in> [<in>...] <out>".
	Usage string

	// Options are the program's own options that begin with two hyphens, such as
	// "--rounds", which Run finds in Driver.Args. Others are refused, unless Hammr
	// knows them.
	Options []string

	// Jobs are all jobs that the program may run: a task finds its code here by
	// the job's name.
	Jobs []Runnable

	// Run is the program's life on the client: it looks at the arguments and
	// runs jobs. Default: the arguments are the inputs and the output of the
	// only job. An error that wraps ErrUsage shows the usage and exits with 2.
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

// taskName is how tasks name a job of the program: programs of one binary may
// have different jobs of one name.
func (p *Program) taskName(job string) string {
	if job == p.Name {
		return job
	}
	return p.Name + "/" + job
}

// tasks is the program as the engine's attempts see it.
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
