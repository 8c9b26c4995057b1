package jobmaster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/proto"
)

// The code in this file converts a submission into the data that the replicated state keeps
// of a job. The properties of a submission are parsed once, in newSubmission.

// submission is a job as its client submits it, with its properties parsed.
type submission struct {
	key  submitKey       // equal for a repeated submission
	spec cluster.JobSpec // what is written to the log; Document is the complete submission of the client
	pool poolChoice      // resolved in the loop, where the pools are known
	age  int64           // ms since the client sent it first; 0: it has not sent it before
}

// newSubmission checks a job. It reports every problem at once; for a bad property it
// reports the value and what is expected.
//
// It runs in the caller's goroutine, because parsing a large graph must not delay the loop. A
// graph beyond the limits is not even checked: that takes longer the larger the graph is.
func newSubmission(spec *wire.JobSpec, limits cluster.Limits) (*submission, error) {
	document, err := proto.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("jobmaster: job specification: %w", err)
	}
	s := &submission{key: submitKey{spec.ClientId, spec.Sequence}, age: max(spec.RepeatedAfter, 0), spec: cluster.JobSpec{
		Name: spec.Name, User: spec.User, OutputDir: spec.OutputDir, OutputKey: outputKey(spec.OutputDir),
		Graph: taskproc.ToGraph(spec.Graph), Document: document,
	}}
	c, err := conf.FromMap(spec.Properties)
	setLimits(&s.spec, c)
	if err := limits.CheckSpec(s.spec); err != nil {
		return nil, err
	}
	err = errors.Join(s.spec.Graph.Validate(), checkFingerprint(s.spec.Graph, spec), err, c.Validate())
	if spec.ClientId == "" {
		err = errors.Join(err, errors.New("jobmaster: submission without a client id"))
	}
	s.pool = choosePool(spec, c)
	if err = errors.Join(err, setPreemption(&s.spec, spec, c)); err != nil {
		return nil, err
	}
	return s, nil
}

// outputKey returns the canonical name of an output directory; "" for none.
func outputKey(dir string) string {
	if dir == "" {
		return ""
	}
	return storage.CanonicalName(dir)
}

// checkFingerprint detects a client that derives a different graph than the master.
//
// A client of another version might number the tasks of the same graph differently, and its
// tasks would read the wrong input.
func checkFingerprint(g dag.Graph, spec *wire.JobSpec) error {
	if want := g.Fingerprint(); spec.Fingerprint != "" && spec.Fingerprint != want {
		return fmt.Errorf("jobmaster: the job names fingerprint %s, but that of its graph is %s", spec.Fingerprint, want)
	}
	return nil
}

// priorities are the numbers for Hadoop's names of priorities.
var priorities = map[string]int{"VERY_HIGH": 2, "HIGH": 1, "NORMAL": 0, "DEFAULT": 0, "LOW": -1, "VERY_LOW": -2}

// priorityName returns the name of a priority.
func priorityName(priority int) string {
	return [...]string{"VERY_LOW", "LOW", "NORMAL", "HIGH", "VERY_HIGH"}[min(max(priority, -2), 2)+2]
}

// setLimits sets the limits of a job's attempts, its priority and its placement.
func setLimits(spec *cluster.JobSpec, c *conf.Conf) {
	spec.MaxAttempts = [2]int{c.Int("mapreduce.map.maxattempts"), c.Int("mapreduce.reduce.maxattempts")}
	spec.MaxCounters, spec.MaxCounterGroups = c.Int(conf.CountersLimit), c.Int(conf.CounterGroupsMax)
	spec.MemoryMB = [2]int64{c.Int64(conf.MapMemoryMB), c.Int64(conf.ReduceMemoryMB)}
	spec.SkipRecords = c.Int("mapreduce.map.skip.maxrecords")
	spec.SlowStartPPM = int(c.Float("mapreduce.job.reduce.slowstart.completedmaps") * 1_000_000)
	spec.OutageLimitMillis = c.Duration(conf.HDFSOutageLimit).Milliseconds()
	spec.TimeoutMillis = c.Duration("mapreduce.task.timeout").Milliseconds()
	spec.Speculative = [2]bool{c.Bool("mapreduce.map.speculative"), c.Bool("mapreduce.reduce.speculative")}
	spec.MaxMachineFailures = c.Int("mapreduce.job.maxtaskfailures.per.tracker")
	spec.FailureDecayMillis = c.Duration(conf.FailureDecay).Milliseconds()
	spec.Priority = priorities[c.String("mapreduce.job.priority")]
	if placement := c.String("hammr.job.placement"); !strings.EqualFold(placement, "default") {
		spec.Placement = strings.ToLower(placement)
	}
}

// propertiesOf parses the properties of a job that an earlier leader may have accepted. They
// were checked at submission, but perhaps by a master of another version. The job must not
// fail because of them after its tasks have run, so defaults replace bad values.
func (m *Master) propertiesOf(id cluster.JobID, r *record) *conf.Conf {
	c, err := conf.FromMap(r.spec.Properties)
	if err != nil {
		m.cfg.Logger.Warn("cannot read all properties of a job, using defaults for the others", "job", id, "error", err)
	}
	return c
}

// checkCounters returns an error if the finished tasks of a job have, in total, more user
// counters than the job may have. Each attempt checks its own counters.
func checkCounters(j *cluster.Job, c *conf.Conf) error {
	sums := make(counter.Values)
	for _, c := range j.Counters(j.Stages...) {
		sums.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
	}
	return sums.CheckLimit(c.Int(conf.CountersLimit))
}

// setPreemption sets which preemption modes each stage of a job disallows. These are the
// modes that the job's properties do not list, and the modes that the job's code cannot
// obey, as the client says.
//
// Properties give modes by slot kind, and the submission gives them by stage. The state
// keeps them by stage. If no stage disallows a mode, the list stays empty, which keeps the
// entry small.
func setPreemption(out *cluster.JobSpec, spec *wire.JobSpec, c *conf.Conf) error {
	out.Passive = !c.Bool(conf.MayPreempt)
	allowed := map[dag.SlotKind]preempt.ModeSet{
		dag.SlotMap:    modesNamed(c.Strings(conf.MapPreemption)),
		dag.SlotReduce: modesNamed(c.Strings(conf.ReducePreemption)) | preempt.SetOf(preempt.Split), // reduces have no Range to split
	}
	var union preempt.ModeSet
	disallowed := make([]preempt.ModeSet, len(out.Graph.Stages))
	for i, s := range out.Graph.Stages {
		disallowed[i] = preempt.AllModes&^allowed[out.Graph.SlotsOf(s.Name)] | modesNamed(strings.Split(spec.DisallowedModes[s.Name], ","))
		union |= disallowed[i]
	}
	if union != 0 {
		out.DisallowedModes = disallowed
	}
	return checkDisallowed(out.Graph, spec.DisallowedModes)
}

// checkDisallowed refuses modes and stages that this master does not know. A client of
// another version may name them.
func checkDisallowed(g dag.Graph, byStage map[string]string) error {
	for _, stage := range slices.Sorted(maps.Keys(byStage)) {
		names := byStage[stage]
		if g.StageIndex(stage) < 0 {
			return fmt.Errorf("jobmaster: preemption modes %s disallowed for stage %q, which is not in the graph", names, stage)
		}
		for name := range strings.SplitSeq(names, ",") {
			if mode := preempt.Mode(name); mode != preempt.Wait && preempt.SetOf(mode) == 0 {
				return fmt.Errorf("jobmaster: unknown preemption mode %q disallowed for stage %s", name, stage)
			}
		}
	}
	return nil
}

// modesNamed returns the modes with these names, in upper or lower case. It ignores unknown
// names, because conf has already refused them.
func modesNamed(names []string) (modes preempt.ModeSet) {
	for _, name := range names {
		modes |= preempt.SetOf(preempt.Mode(strings.ToLower(name)))
	}
	return modes
}

// poolChoice is the pool that a submission chooses.
type poolChoice struct {
	name     string
	optional bool // if the pool does not exist, the job goes to the default pool
}

// poolNameProperty names the property whose value names the pool.
const poolNameProperty = "mapred.fairscheduler.poolnameproperty"

// choosePool returns the pool that the job names. Otherwise it returns the pool with the
// name of the user, of the user's group, or of the value of another property, as
// poolNameProperty says. That pool is optional, because it may not exist.
func choosePool(spec *wire.JobSpec, c *conf.Conf) poolChoice {
	property := c.String(poolNameProperty)
	if property == "" || c.IsSet(conf.JobQueue) {
		return poolChoice{name: c.String(conf.JobQueue)}
	}
	name := c.String(property)
	switch property {
	case "user.name", "mapreduce.job.user.name":
		name = spec.User
	case "group.name":
		name = spec.Group
	}
	return poolChoice{name: strings.TrimSpace(name), optional: true}
}
