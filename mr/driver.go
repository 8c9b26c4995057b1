package mr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/storage"
)

// ErrUsage says that a program was called with wrong arguments. Wrap it to say why.
var ErrUsage = errors.New("wrong arguments")

// Driver is the argument of a Program's Run, on the client: it runs jobs, and reads and writes
// files. It is for one goroutine: jobs run one after another.
//
//	parseArgs ──> newDriver ──> Program.Run ──> prepare, submit, watch   (per job)
//	                                  │
//	                                  └──> report, close: temporary directories, engine
type Driver struct {
	Args   []string  // the program's own arguments
	Stdout io.Writer // for results
	Stderr io.Writer

	program  *Program          // the program that runs
	jobs     map[string]anyJob // the program's jobs by name
	conf     *conf.Conf        // properties that the user has set, without the defaults of a job
	files    *storage.Router
	console  *console.Console
	engine   engine
	report   reporter // keeps the report of the last job for --report
	tempDirs []string // directories that TempDir has returned
	show     *show    // if not nil, a job is shown and none runs

	interrupt <-chan struct{} // closed by Ctrl-C
	detached  bool            // jobs continue when this program ends
}

// JobRun describes one run of a job: its inputs, its output and its configuration.
type JobRun struct {
	// In are the inputs: files, directories or globs. Source i of the job gets In[i]; the
	// last source gets all remaining inputs.
	In []string

	// Out is the directory to be created for the output. Out is empty if the job's output is
	// NullOutput and the job has no other outputs.
	Out string

	// Config replaces the defaults of the job's configuration. It is a value of the type
	// given to WithConfig.
	Config any

	// Set sets properties for this run. The user's -D overrides them.
	Set map[string]string
}

// JobError is the error of a job that failed or was killed. The console has already shown
// the cause.
type JobError struct {
	JobID string
	State string // FAILED or KILLED
	Cause string
}

func (e *JobError) Error() string {
	return fmt.Sprintf("job %s %s: %s", e.JobID, strings.ToLower(e.State), e.Cause)
}

// Run runs a job until it ends. If ctx ends, the job is killed.
// The error is a *JobError if the job failed; any other error means that it did not run.
func (d *Driver) Run(ctx context.Context, job Runnable, run JobRun) error {
	_, err := d.RunCounted(ctx, job, run)
	return err
}

// RunCounted runs a job as Run does, and returns its counters. The next job of a chain may take
// them as its configuration.
func (d *Driver) RunCounted(ctx context.Context, job Runnable, run JobRun) (Counters, error) {
	j, ok := job.(anyJob)
	if !ok || d.jobs[j.Name()] != j {
		return nil, fmt.Errorf("program %s: a job that is not among its Jobs", d.program.Name)
	}
	status, err := d.submitAndWatch(ctx, j, run)
	if err != nil {
		return nil, err
	}
	return report.Counters(status), nil
}

// Counters are the counters of a job that has ended: group, then name.
type Counters = counter.Values

// Property returns a property as the user set it, or its default. It ignores the defaults
// that jobs set with Set.
func (d *Driver) Property(name string) string { return d.conf.String(name) }

// IsSet reports whether the user or a configuration file set the property.
func (d *Driver) IsSet(name string) bool { return d.conf.IsSet(name) }

// TempDir returns the name of a new directory next to near, in which one job of a chain
// leaves its output for the next job. The directory is removed when the program ends.
func (d *Driver) TempDir(near string) string {
	dir := fmt.Sprintf("%s-%s-%d-tmp", strings.TrimRight(near, "/"), d.program.Name, len(d.tempDirs)+1)
	if parent, base := path.Split(dir); base != "" {
		dir = parent + "_" + base
	}
	d.tempDirs = append(d.tempDirs, dir)
	return dir
}

// Open opens a file by name.
func (d *Driver) Open(ctx context.Context, name string) (storage.File, error) {
	fsys, p, err := d.files.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return fsys.Open(ctx, p)
}

// Outputs returns the names of the files in a job's output directory, sorted. Names that begin
// with _ or a dot, such as _SUCCESS, are left out.
func (d *Driver) Outputs(ctx context.Context, dir string) ([]string, error) {
	inputs, err := storage.Inputs(ctx, d.files, []string{dir}, false)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, in := range inputs {
		names = append(names, in.Name)
	}
	return names, nil
}

// Rename moves a file or directory within its file system. It fails if the target exists.
func (d *Driver) Rename(ctx context.Context, from, to string) error {
	source, fromPath, err := d.files.Resolve(ctx, from)
	if err != nil {
		return err
	}
	target, toPath, err := d.files.Resolve(ctx, to)
	if err != nil {
		return err
	}
	if source.URI() != target.URI() {
		return fmt.Errorf("rename of %s to %s: not the same file system", from, to)
	}
	return source.Rename(ctx, fromPath, toPath)
}

// Remove removes a file, or a directory with everything below it. A missing file is not an
// error.
func (d *Driver) Remove(ctx context.Context, name string) error {
	fsys, p, err := d.files.Resolve(ctx, name)
	if err != nil {
		return err
	}
	return fsys.Remove(ctx, p, true)
}

// close removes the temporary directories and stops the engine.
//
// It runs also after an error or Ctrl-C; ctx is not cancelled then.
func (d *Driver) close(ctx context.Context) error {
	var errs []error
	for _, dir := range d.tempDirs {
		if d.detached {
			fmt.Fprintf(d.Stderr, "Directory %s remains, because the job may still need it.\n", dir)
			continue
		}
		errs = append(errs, d.Remove(ctx, dir))
	}
	return errors.Join(append(errs, d.engine.close())...)
}

// Create creates a file by name. It fails if the file exists.
func (d *Driver) Create(ctx context.Context, name string) (storage.Writer, error) {
	fsys, path, err := d.files.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return fsys.Create(ctx, path, storage.CreateOptions{})
}

// Resolve returns the file system and the path of a name. The file system's URI followed by
// the path is the full name, which means the same file in every task.
func (d *Driver) Resolve(ctx context.Context, name string) (storage.FS, string, error) {
	return d.files.Resolve(ctx, name)
}

// CheckOutput returns an error if a job on these inputs could not write to the directory
// out, for example because it exists. A chain of jobs calls it before its first job, so that
// hours of work are not lost when the last job refuses its output.
func (d *Driver) CheckOutput(ctx context.Context, in []string, out string) error {
	if out == "" {
		return fmt.Errorf("%w: %w", ErrUsage, errNoOutput)
	}
	full, err := d.fullName(ctx, out)
	if err != nil {
		return err
	}
	r := &request{files: d.files, run: JobRun{In: in, Out: out}}
	if err = checkNewOutput(ctx, r); errors.Is(err, fs.ErrExist) {
		err = d.continuesOutput(ctx, full, err)
	}
	if err != nil {
		return err
	}
	return checkApart(ctx, r)
}
