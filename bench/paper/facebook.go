package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/sim/workload"
)

// sampleEvery is the factor by which the short form has fewer tasks and machines.
const sampleEvery = 10

// taskSigma is the spread of the times of tasks that a model makes.
const taskSigma = 0.2

// traces are the two workloads of the HFSP paper. Both have numbers of tasks and bytes, and
// no times.
type traces struct {
	files   map[string]string // by fb2009 and fb2010; names for workload.ReadFile
	note    string            // on their origin
	sampled bool
}

// facebook finds the workloads: the files of a directory, or presets if no directory is
// named. The presets have the classes and quotas of the paper's table 1, but not the jobs
// of the trace, and reports say so.
func facebook(o Options) (t traces, err error) {
	t = traces{files: make(map[string]string), sampled: o.Short}
	for _, name := range []string{"fb2009", "fb2010"} {
		if o.WorkloadDir == "" {
			t.files[name] = workload.SpecPrefix + name
			t.note = "Without traces, workloads are drawn by the quotas of table 1 (`" + t.files[name] + "`), so jobs differ from those of the traces."
			continue
		}
		t.files[name] = filepath.Join(o.WorkloadDir, "hfsp_"+name+".csv")
		if _, err := os.Stat(t.files[name]); errors.Is(err, fs.ErrNotExist) {
			return t, fmt.Errorf("workload %s does not exist: name the directory of the traces, or leave it out for workloads that are drawn by chance", t.files[name])
		} else if err != nil {
			return t, fmt.Errorf("workload: %w", err)
		}
	}
	return t, nil
}

// notes returns the report's notes on the origin of workloads.
func (t traces) notes() []string {
	if t.note == "" {
		return nil
	}
	return []string{t.note}
}

// source reads a workload with a time for a full block. name is fb2009 or fb2010; a block
// time of 0 is the model's default. With a trace only
// the noise of task times depends on the seed.
func (t traces) source(name string, blockTime time.Duration) Source {
	read := func(seed uint64) (*workload.Workload, error) {
		return workload.ReadFile(t.files[name], workload.Options{Model: workload.Model{BlockTime: blockTime, Sigma: taskSigma, Seed: seed}})
	}
	if t.sampled {
		return sampled(read)
	}
	return read
}

// sampled returns a workload with one task in sampleEvery. Machines must shrink by the same
// factor, so that the load does not change.
func sampled(s Source) Source {
	return s.Each(func(_ int, j *workload.Job) { j.Maps, j.Reduces = sample(j.Maps), sample(j.Reduces) })
}

// mapsOnly returns a workload without its reduces. The jobs and their maps are the same.
func mapsOnly(s Source) Source { return s.Each(func(_ int, j *workload.Job) { j.Reduces = nil }) }

// sample keeps some of the tasks, at least one if there are any. It takes every
// sampleEvery-th task instead of the
// first ones, so that the sample is spread over the job.
func sample(tasks []workload.Task) (some []workload.Task) {
	for i := 0; i < len(tasks); i += sampleEvery {
		some = append(some, tasks[i])
	}
	return some
}
