package chaos

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits of plans.
const (
	// DefaultLimit is the default of Plan.Limit.
	DefaultLimit = 15 * time.Second

	maxLimit  = 24 * time.Hour
	maxJobs   = 100
	maxFaults = 1000
)

// Plan is a cluster, its jobs and its faults. A Plan is plain data. Two runs of it draw the
// same targets, since all random choices come from Seed; which attempt runs at that moment
// still depends on the cluster.
type Plan struct {
	Seed      uint64        // of random plans, and of the jobs' input
	Masters   int           // 1, 3 or 5
	Tasknodes int           // 1 to 100
	HDFS      bool          // input and output are in a real HDFS, with a DataNode for each tasknode
	Limit     time.Duration // no fault is injected later than this after the first job
	Jobs      []Job
	Faults    []Fault

	File string // name of its file, "" for none
}

// Job is one of the jobs of a plan.
type Job struct {
	Name    string // in the plan
	Program string // of Programs, or the file of a user's own program
	// Args are the arguments of an own program: InArg and OutArg in them stand for the drill's
	// input and output.
	Args []string
	Line int // of the plan's file, 0 for none
}

// Arguments of an own program that a drill replaces.
const (
	InArg  = "{in}"  // a file of text
	OutArg = "{out}" // the directory of the output
)

// Own reports whether the job runs a program of the user.
func (j Job) Own() bool { return strings.HasPrefix(j.Program, "/") }

// Programs returns the programs that jobs may run.
func Programs() []string { return []string{"wordcount", "terasort", "invertedindex"} }

// NewPlan returns a plan with 3 masters, 4 tasknodes and no jobs.
func NewPlan() *Plan { return &Plan{Masters: 3, Tasknodes: 4, Limit: DefaultLimit} }

// Format returns the plan as text, which Parse reads. Defaults are written too, so the text is
// complete on a version with other defaults.
func (p *Plan) Format() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nseed %d\nmasters %d\ntasknodes %d\nlimit %v\n", header, p.Seed, p.Masters, p.Tasknodes, p.Limit)
	if p.HDFS {
		b.WriteString("hdfs\n")
	}
	for _, j := range p.Jobs {
		fmt.Fprintf(&b, "job %s\n", strings.Join(append([]string{j.Name, j.Program}, j.Args...), " "))
	}
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "%v\n", f)
	}
	return []byte(b.String())
}

// With returns the same plan with other faults.
func (p *Plan) With(faults []Fault) *Plan {
	other := *p
	other.Faults = slices.Clone(faults)
	return &other
}

// Kinds returns the kinds of the plan's faults, each once.
func (p *Plan) Kinds() (used []Kind) {
	for _, f := range p.Faults {
		if !slices.Contains(used, f.Kind) {
			used = append(used, f.Kind)
		}
	}
	return used
}

// Check names everything that is wrong with the plan, with file and line.
func (p *Plan) Check() error { return p.check(true, nil).join(p) }

// problem is an error in a line of the plan's file, 0 for none.
type problem struct {
	line int
	err  error
}

// problems are the errors of a plan in the order in which they were found.
type problems []problem

// add ignores a nil error.
func (m *problems) add(line int, err error) {
	if err != nil {
		*m = append(*m, problem{line, err})
	}
}

// join returns nil for no problems.
func (m problems) join(p *Plan) error {
	var faults []error
	for _, x := range m {
		faults = append(faults, p.at(x.line, x.err))
	}
	return errors.Join(faults...)
}

// check finds what is wrong; lines has the lines of settings. If not all jobs could be
// parsed, a missing job is no problem.
func (p *Plan) check(jobs bool, lines map[string]int) (wrong problems) {
	setting, err := p.checkSizes(jobs)
	wrong.add(lines[setting], err)
	for i, j := range p.Jobs {
		wrong.add(j.Line, p.checkJob(i))
	}
	for _, f := range p.Faults {
		wrong.add(f.Line, p.checkFault(f, jobs))
	}
	return wrong
}

// at adds the file and the line to an error.
func (p *Plan) at(line int, err error) error {
	file := p.File
	if file == "" {
		file = "plan"
	}
	if line == 0 {
		return fmt.Errorf("%s: %w", file, err)
	}
	return fmt.Errorf("%s:%d: %w", file, line, err)
}

// checkSizes returns the name and the error of a wrong setting; "" for no wrong setting.
func (p *Plan) checkSizes(jobs bool) (setting string, err error) {
	switch {
	case p.Masters != 1 && p.Masters != 3 && p.Masters != 5:
		return "masters", fmt.Errorf("%d masters; a cluster has 1, 3 or 5", p.Masters)
	case p.Tasknodes < 1 || p.Tasknodes > 100:
		return "tasknodes", fmt.Errorf("%d tasknodes; expected 1 to 100", p.Tasknodes)
	case p.Limit <= 0 || p.Limit > maxLimit:
		return "limit", fmt.Errorf("limit %v; expected more than 0s, up to %v", p.Limit, maxLimit)
	case len(p.Jobs) == 0 && jobs:
		return "", errors.New("no job; a line such as 'job j1 wordcount' is missing")
	case len(p.Jobs) > maxJobs || len(p.Faults) > maxFaults:
		return "", fmt.Errorf("%d jobs and %d faults; at most %d and %d", len(p.Jobs), len(p.Faults), maxJobs, maxFaults)
	}
	return "", nil
}

// checkJob checks job i by itself and against the jobs before it.
func (p *Plan) checkJob(i int) error {
	j := p.Jobs[i]
	if !isName(j.Name) {
		return fmt.Errorf("job %q: a name has letters, digits, - and _, at most 64", j.Name)
	}
	if slices.ContainsFunc(p.Jobs[:i], func(other Job) bool { return other.Name == j.Name }) {
		return fmt.Errorf("job %s is there twice", j.Name)
	}
	switch {
	case !j.Own() && !slices.Contains(Programs(), j.Program):
		return fmt.Errorf("job %s: no program %q; there are %s, and files with an absolute path", j.Name, j.Program, join(Programs()))
	case j.Own() && !slices.Contains(j.Args, OutArg):
		return fmt.Errorf("job %s: %s is missing among the arguments of %s; it stands for the directory of its output, and %s for an input", j.Name, OutArg, j.Program, InArg)
	case !j.Own() && len(j.Args) > 0:
		return fmt.Errorf("job %s: %s has no arguments in plans", j.Name, j.Program)
	}
	return nil
}

// checkFault checks a fault by itself and against the plan.
func (p *Plan) checkFault(f Fault, jobs bool) error {
	if err := errors.Join(f.Trigger.check(), f.check()); err != nil {
		return err
	}
	if jobs && f.Trigger.Event != AtTime && !slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.Name == f.Trigger.Job }) {
		return fmt.Errorf("when %s: the plan has no such job", f.Trigger.Job)
	}
	if f.Trigger.Event == AtTime && p.Limit > 0 && f.Trigger.At > p.Limit {
		return fmt.Errorf("at %v: no fault is injected later than limit %v", f.Trigger.At, p.Limit)
	}
	return p.checkTarget(f)
}

// checkTarget refuses a target that the plan's cluster does not have. A fault with such a
// target would never be injected, and the drill would look better than it is.
func (p *Plan) checkTarget(f Fault) error {
	t, n := f.Target, f.Target.Number()
	count := p.Tasknodes
	if t.Role == Jobmaster {
		count = p.Masters
	}
	switch {
	case n > count:
		return fmt.Errorf("%v: there are %d", t, count)
	case (t.Role == DataNode || t.Role == NameNode) && !p.HDFS:
		return fmt.Errorf("%v: the plan has no HDFS; add a line 'hdfs'", t)
	case t.Role == Jobmaster && t.Name == Follower && p.Masters == 1:
		return errors.New("jobmaster follower: there is one master only")
	}
	return nil
}

// isName reports whether a text is a valid name of a job.
func isName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}
