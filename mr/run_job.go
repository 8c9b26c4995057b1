package mr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/user"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// killedByUser is the cause of jobs that the user kills.
const killedByUser = "killed by the user"

// submitAndWatch runs one job and returns its final status.
func (d *Driver) submitAndWatch(ctx context.Context, j anyJob, run JobRun) (*wire.JobStatus, error) {
	spec, splits, err := d.prepare(ctx, j, run)
	if err != nil {
		return nil, err
	}
	if d.show != nil {
		return nil, d.showJob(j.Name(), taskproc.ToGraph(spec.Graph))
	}
	if err := d.engine.checkFits(taskproc.ToGraph(spec.Graph)); err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Name(), err)
	}
	engine, err := d.engine.client(ctx, d)
	if err != nil {
		return nil, err
	}
	if d.engine.cluster.remote() {
		return d.runRemote(ctx, engine, spec, splits)
	}
	id, err := engine.Submit(ctx, spec, splits)
	if err != nil {
		return nil, err
	}
	d.console.Running(id)
	return d.watchToEnd(ctx, engine, spec, id)
}

// watchToEnd watches a job until it ends. The end of ctx kills the job.
func (d *Driver) watchToEnd(ctx context.Context, c client.Client, spec *wire.JobSpec, id string) (*wire.JobStatus, error) {
	stop := context.AfterFunc(ctx, func() {
		_ = c.Kill(context.WithoutCancel(ctx), id, killedByUser)
	})
	defer stop()
	// A killed job is watched until it has ended, when all of it is removed.
	stopBar := d.console.StartRefresh()
	progress := d.newProgressReporter()
	status, err := c.Watch(context.WithoutCancel(ctx), id, progress.report)
	stopBar()
	progress.stop()
	if err != nil {
		return nil, err
	}
	return status, d.conclude(ctx, spec, status)
}

// prepare turns a job and a JobRun into a submission.
func (d *Driver) prepare(ctx context.Context, j anyJob, run JobRun) (*wire.JobSpec, []*taskproc.Split, error) {
	config, err := configJSON(j.configType(), run)
	if err != nil {
		return nil, nil, err
	}
	det, err := j.details(config)
	if err != nil {
		return nil, nil, err
	}
	c, err := d.runConf(det, run)
	if err != nil {
		return nil, nil, err
	}
	if err := checkCodecs(c); err != nil {
		return nil, nil, err
	}
	out, err := d.checkOutput(ctx, run.Out)
	if err != nil {
		return nil, nil, err
	}
	splits, err := d.cutSplits(ctx, det, c, run.In)
	if err != nil {
		return nil, nil, err
	}
	if err := d.checkApart(ctx, run.In, run.Out); err != nil {
		return nil, nil, err
	}
	spec := &wire.JobSpec{
		Name: j.Name(), Program: d.program.taskName(j.Name()), User: userName(), Group: groupName(), Config: config,
		OutputDir: out, Inputs: run.In, Reduces: int32(reduces(det, c)),
	}
	if det.hasReduce && spec.Reduces == 0 && det.needReduce != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUsage, det.needReduce)
	}
	if det.totalOrder != nil && spec.Reduces > 1 {
		if err := d.sampleRanges(ctx, j, c, spec, splits); err != nil {
			return nil, nil, err
		}
	}
	graph := det.shape(c, det.nodes(splits), int(spec.Reduces))
	if err := graph.Validate(); err != nil {
		return nil, nil, fmt.Errorf("job %s: %w", j.Name(), err)
	}
	spec.Graph, spec.Fingerprint = taskproc.FromGraph(graph), graph.Fingerprint()
	spec.DisallowedModes = det.disallowedIn(graph)
	spec.Properties = c.Changed()
	if c.IsSet(conf.JobQueue) { // an explicit choice of the default pool must stay explicit
		spec.Properties[conf.JobQueue] = c.String(conf.JobQueue)
	}
	if name := c.String(conf.JobName); name != "" {
		spec.Name = name
	}
	return spec, splits, nil
}

func reduces(det details, c *conf.Conf) int {
	if !det.hasReduce {
		return 0
	}
	return c.Int(conf.JobReduces)
}

// nodes is the number of Nodes of each stage that reads inputs: one per split.
func (det details) nodes(splits []*taskproc.Split) map[string]int {
	nodes := make(map[string]int)
	for _, s := range splits {
		nodes[det.readers[s.Input]]++
	}
	return nodes
}

func userName() string {
	if name := os.Getenv("HADOOP_USER_NAME"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

// groupName is the primary Unix group of the user, "" if it is unknown.
func groupName() string {
	u, err := user.Lookup(userName())
	if err != nil {
		return ""
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		return ""
	}
	return g.Name
}

// cutSplits computes the splits of each source and numbers the files over all of them.
func (d *Driver) cutSplits(ctx context.Context, det details, c *conf.Conf, in []string) ([]*taskproc.Split, error) {
	var all []*taskproc.Split
	var numbers numberer
	for i, paths := range assignPaths(in, len(det.inputs)) {
		cuts, err := det.inputs[i].Splits(ctx, &InputEnv{Files: d.files, Paths: paths, conf: c})
		if err != nil {
			return nil, err
		}
		numbers.last = Part{}
		for _, s := range cuts {
			if len(s.Parts) == 0 {
				return nil, fmt.Errorf("input %d of the job: a split without parts", i+1)
			}
			m := numbers.number(s)
			m.Input = int32(i)
			all = append(all, m)
		}
	}
	if len(all) > math.MaxInt32 {
		return nil, fmt.Errorf("%d splits: more than a job can have; raise mapreduce.input.fileinputformat.split.minsize", len(all))
	}
	d.console.TotalInputFiles(int(numbers.files))
	d.console.Splits(len(all))
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

// sampleRanges divides the key space by a sample of the input.
func (d *Driver) sampleRanges(ctx context.Context, j anyJob, c *conf.Conf, spec *wire.JobSpec, splits []*taskproc.Split) error {
	ranges, err := cutPoints(ctx, j, &sampler{
		splits: splits,
		node: func(split *taskproc.Split) *task.NodeRun {
			return task.Detached(ctx, &taskproc.Start{
				JobId: "sample", AttemptId: "sample", Program: spec.Program, Config: spec.Config,
				Maps: int32(len(splits)), Reduces: spec.Reduces, Split: split,
			}, c, d.files)
		},
	}, int(spec.Reduces))
	if err != nil {
		return err
	}
	_, err = c.Set(conf.PartitionRanges, ranges)
	return err
}

// conclude shows how the job ended and keeps it for the report.
func (d *Driver) conclude(ctx context.Context, spec *wire.JobSpec, s *wire.JobStatus) error {
	doc := report.FromStatus(s, spec.Properties)
	doc.Counters.FillZeros(counter.Shape{Reduces: spec.Reduces > 0})
	d.report.last = &doc
	if s.State == wire.JobState_SUCCEEDED {
		d.console.Completed(s.JobId)
		d.console.Counters(doc.Counters)
		return nil
	}
	d.console.Failed(s.JobId, s.State.String(), s.Cause)
	if n := len(s.Failures); n > 0 && s.State == wire.JobState_FAILED {
		d.console.Failure(report.FailureFromRecord(s.Failures[n-1]))
	}
	err := error(&JobError{JobID: s.JobId, State: s.State.String(), Cause: s.Cause})
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return err
}
