package mr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os/user"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/kit/login"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/storage"
)

// prepare turns a job and a JobRun into a submission. The cheapest steps come first: the
// configuration and the checks. Then it lists the input for the splits. Last, it reads input for
// the sample of a total order.
func (d *Driver) prepare(ctx context.Context, j anyJob, run JobRun) (*wire.JobSpec, []*taskproc.Split, error) {
	config, det, c, err := d.configure(j, run)
	if err != nil {
		return nil, nil, err
	}
	if err := (&request{d.files, det, c, run}).check(ctx); err != nil {
		return nil, nil, err
	}
	if err := d.chooseReduces(ctx, det, c); err != nil {
		return nil, nil, err
	}
	out, err := d.fullName(ctx, run.Out)
	if err != nil {
		return nil, nil, err
	}
	input, err := d.cutSplits(ctx, det, c, run.In, d.engine.mapSlots(ctx, d))
	if err != nil {
		return nil, nil, err
	}
	d.console.TotalInputFiles(input.files)
	d.console.Splits(len(input.splits))
	spec := &wire.JobSpec{
		Program: d.program.taskName(j.Name()), User: login.Name(), Group: groupName(), Config: config,
		OutputDir: out, Inputs: run.In, Reduces: int32(reduces(det, c)),
	}
	if det.hasReduce && spec.Reduces == 0 && det.needReduce != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUsage, det.needReduce)
	}
	if det.totalOrder && spec.Reduces > 1 {
		if err := d.sampleRanges(ctx, j, det, c, spec, input); err != nil {
			return nil, nil, err
		}
	}
	graph := det.shape(c, det.nodes(input.splits), int(spec.Reduces))
	if err := graph.Validate(); err != nil {
		return nil, nil, fmt.Errorf("job %s: %w", j.Name(), err)
	}
	spec.Graph, spec.Fingerprint = taskproc.FromGraph(graph), graph.Fingerprint()
	spec.DisallowedModes = det.disallowedIn(graph)
	spec.Properties = c.Map()
	spec.Name = jobName(j, c)
	return spec, input.splits, nil
}

// configure returns the configuration of one run of a job: the typed one as JSON, what follows from
// it, and the properties.
func (d *Driver) configure(j anyJob, run JobRun) (config []byte, det details, c *conf.Conf, err error) {
	if config, err = configJSON(j.configType(), run); err != nil {
		return nil, det, nil, err
	}
	if det, err = j.details(config); err != nil {
		return nil, det, nil, err
	}
	c, err = d.runConf(det, run)
	return config, det, c, err
}

// jobName returns the name of a job, which the user may have chosen.
func jobName(j anyJob, c *conf.Conf) string { return cmp.Or(c.String(conf.JobName), j.Name()) }

// groupName returns the primary Unix group of the user, "" if it is unknown. Pools may be
// chosen by group.
func groupName() string {
	u, err := user.Lookup(login.Name())
	if err != nil {
		return ""
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		return ""
	}
	return g.Name
}

// cutInput is a job's input, divided into splits.
type cutInput struct {
	splits []*taskproc.Split
	files  int  // number of files
	sized  bool // the splits depend on the number of slots
}

// cutSplits computes the splits of each source and numbers the files over all of them. The
// numbers order the values of equal keys: by source, then by file.
func (d *Driver) cutSplits(ctx context.Context, det details, c *conf.Conf, in []string, slots slotCount) (cutInput, error) {
	var all cutInput
	var numbers numberer
	for i, paths := range assignPaths(in, len(det.inputs)) {
		env := &InputEnv{Files: d.files, Paths: paths, conf: c, slots: slots}
		cuts, err := det.inputs[i].Splits(ctx, env)
		if err != nil {
			return cutInput{}, err
		}
		all.sized = all.sized || env.sized
		numbers.last = Part{}
		for _, s := range cuts {
			if len(s.Parts) == 0 {
				return cutInput{}, fmt.Errorf("input %d of the job: a split without parts", i+1)
			}
			m := numbers.number(s)
			m.Input = int32(i)
			all.splits = append(all.splits, m)
		}
	}
	if len(all.splits) > math.MaxInt32 {
		return cutInput{}, fmt.Errorf("%d splits: more than a job can have; raise mapreduce.input.fileinputformat.split.minsize", len(all.splits))
	}
	all.files = int(numbers.files)
	return all, nil
}

// assignPaths assigns paths to n sources: one each, and the rest to the last.
func assignPaths(paths []string, n int) [][]string {
	out := make([][]string, n)
	for i, p := range paths {
		s := min(i, n-1)
		out[s] = append(out[s], p)
	}
	return out
}

// sampleRanges divides the key space by a sample of the input. It passes the ranges to the
// tasks as a property. The mappers run in this process, in attempts that send no reports.
//
// The sample is the beginning of some splits. If the job's splits depend on the slots, other
// splits are sampled, so that a job writes the same files on any number of machines.
func (d *Driver) sampleRanges(ctx context.Context, j anyJob, det details, c *conf.Conf, spec *wire.JobSpec, input cutInput) error {
	maps := len(input.splits)
	if input.sized {
		var err error
		if input, err = d.cutSplits(ctx, det, c, spec.Inputs, slotCount{}); err != nil {
			return err
		}
	}
	ranges, err := cutPoints(ctx, j, &sampler{
		splits: input.splits,
		node: func(split *taskproc.Split) *task.NodeRun {
			return task.Detached(ctx, &taskproc.Start{
				JobId: "sample", AttemptId: "sample", Program: spec.Program, Config: spec.Config,
				Maps: int32(maps), Reduces: spec.Reduces, Split: split,
			}, c, d.files)
		},
	}, int(spec.Reduces))
	if err != nil {
		return err
	}
	_, err = c.Set(conf.PartitionRanges, ranges)
	return err
}

// runConf returns the configuration of one run of a job. Each layer overrides the layer
// above it:
//
//	defaults of the properties
//	Job.Set
//	JobRun.Set
//	configuration files, -D
func (d *Driver) runConf(det details, run JobRun) (*conf.Conf, error) {
	c, err := conf.FromMap(det.properties)
	if err != nil {
		return nil, err
	}
	for _, layer := range []map[string]string{run.Set, d.conf.Map()} {
		for _, name := range slices.Sorted(maps.Keys(layer)) {
			if _, err := c.Set(name, layer[name]); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrUsage, err)
			}
		}
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return c, nil
}

// configJSON encodes the run's typed configuration and checks it, as a task will. Without a
// typed configuration the defaults of the job apply, which may still be invalid.
func configJSON(config *configType, run JobRun) ([]byte, error) {
	if run.Config == nil {
		if config != nil {
			_, err := config.decode(nil)
			return nil, err
		}
		return nil, nil
	}
	if config == nil {
		return nil, errors.New("a configuration for a job that declares none; use WithConfig")
	}
	data, err := config.encode(run.Config)
	if err != nil {
		return nil, err
	}
	_, err = config.decode(data)
	return data, err
}

// fullName returns the full name of the output directory; "" for none.
func (d *Driver) fullName(ctx context.Context, out string) (string, error) {
	if out == "" {
		return "", nil
	}
	fsys, p, err := d.files.Resolve(ctx, out)
	if err != nil {
		return "", err
	}
	return storage.Name(fsys, p), nil
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
	if spec.Properties[conf.Files] == "" {
		return nil
	}
	c, err := conf.FromMap(spec.Properties)
	if err != nil {
		return err
	}
	var full []string
	for _, f := range sideFiles(c) {
		fsys, p, err := d.files.Resolve(ctx, f.location)
		if err != nil {
			return fmt.Errorf("side file: %w", err)
		}
		full = append(full, sideFile{storage.Name(fsys, p), f.name}.String())
	}
	spec.Properties[conf.Files] = strings.Join(full, ",")
	return nil
}
