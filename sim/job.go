package sim

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sim/workload"
)

// job is a job of the workload in the cluster.
type job struct {
	in      *workload.Job
	id      cluster.JobID
	ended   bool
	copying []*attempt // reduces that run and are not stalled, in order of start

	checkpoints    map[cluster.TaskID]savedTask // content of the checkpoints of tasks
	lostSince      map[cluster.TaskID]int64     // lost tasks that have not started again, and since when
	revoked        map[cluster.AttemptID]bool   // finished attempts whose output was lost
	failures       []Failure                    // failures that wait for its progress
	polling        bool                         // its reduces are polled for failures
	commitTerm     int                          // term of the leader that commits its output; 0 before
	partsCommitted int                          // parts of its output that are renamed
	corrupted      []cluster.AttemptID          // attempts whose output is corrupted

	slots   [2]Sample // by phase, now
	sampled [2]Sample // by phase, as in the series
}

// submit submits a job. The settings of retries are Hadoop's defaults, so that failures
// have their usual effect.
func (b *body) submit(in *workload.Job) {
	j := &job{in: in, checkpoints: make(map[cluster.TaskID]savedTask), lostSince: make(map[cluster.TaskID]int64)}
	b.submitted = append(b.submitted, j)
	j.failures = slices.DeleteFunc(slices.Clone(b.cfg.Failures), func(f Failure) bool { return f.Job != in.ID })
	b.request(cluster.SubmitJob{Spec: cluster.JobSpec{
		Name: in.ID, User: in.User, Pool: in.Pool, Priority: in.Priority,
		Graph:       b.graph(in),
		MemoryMB:    in.EffectiveMemoryMB(),
		MaxAttempts: [2]int{maxAttempts, maxAttempts}, SlowStartPPM: int(in.EffectiveSlowStart() * 1e6),
		MaxMachineFailures: maxMachineFailures, FailureDecayMillis: failureDecay,
	}})
}

const (
	maxAttempts        = 4       // as mapreduce.map.maxattempts
	maxMachineFailures = 3       // as mapreduce.job.maxtaskfailures.per.tracker
	failureDecay       = 600_000 // ms, as hammr.job.fault.decay
)

// graph returns the job's graph, as a client would submit it.
func (b *body) graph(in *workload.Job) dag.Graph {
	g := dag.MapReduce(len(in.Maps), len(in.Reduces))
	if b.cfg.SharedSlots && len(in.Reduces) > 0 {
		g.Stages[1].Slots = dag.SlotMap
	}
	return g
}

// splits returns the blocks that the maps of a job read, and the machines that have copies. As
// in HDFS the first copy lies anywhere, the second in another rack, and others in the rack
// of the second.
func (b *body) splits(j *job) []cluster.Split {
	splits := make([]cluster.Split, len(j.in.Maps))
	for n, t := range j.in.Maps {
		length := lengthOf(t)
		splits[n] = cluster.Split{
			Range: dag.Range{End: dag.Position{Offset: length}}, Bytes: length, Ordinal: n, Hosts: b.replicas(j.in.ID, n),
		}
	}
	return splits
}

// replicas returns the machines with copies of a block. They are hashes of seed, job, block
// and a counter: the placement of a block does not depend on other jobs. After 100 tries the
// rule of racks is dropped, since small clusters may not allow it.
func (b *body) replicas(job string, block int) (hosts []string) {
	taken := make(map[int]bool)
	var second *machine
	for try := 0; len(hosts) < b.cfg.Replication; try++ {
		m := b.machines[hashOf(b.cfg.Seed, job, block, try)%uint64(len(b.machines))]
		misplaced := len(hosts) == 1 && m.rack == b.byName[hosts[0]].rack || len(hosts) == 2 && m.rack != second.rack
		if taken[m.number] || misplaced && b.cfg.Racks > 1 && try < 100 {
			continue
		}
		taken[m.number] = true
		if hosts = append(hosts, m.name); len(hosts) == 2 {
			second = m
		}
	}
	return hosts
}

// hashOf returns a pseudo-random number that depends on its arguments only. Unlike a generator
// it has no state, so one more draw somewhere does not change the others.
func hashOf(seed uint64, name string, a, b int) uint64 {
	h := fnv.New64a()
	var head [24]byte
	binary.LittleEndian.PutUint64(head[:], seed)
	binary.LittleEndian.PutUint64(head[8:], uint64(a))
	binary.LittleEndian.PutUint64(head[16:], uint64(b))
	h.Write(head[:])
	h.Write([]byte(name))
	x := h.Sum64() // mix the high bits, which differ little for similar inputs
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return x
}

// revoke records that the output of an attempt was lost.
func (j *job) revoke(id cluster.AttemptID) {
	if j.revoked == nil {
		j.revoked = make(map[cluster.AttemptID]bool)
	}
	j.revoked[id] = true
}

// Oracle returns the true sizes of a workload's jobs, for policies that go by size
// (sched.Setup).
func Oracle(w *workload.Workload) func(*cluster.Job, cluster.Slot) (ms int64, ok bool) {
	sizes := make(map[string][2]int64)
	for i := range w.Jobs {
		j := &w.Jobs[i]
		sizes[j.ID] = [2]int64{workload.Sum(j.Maps).Millis, workload.Sum(j.Reduces).Millis}
	}
	return func(j *cluster.Job, kind cluster.Slot) (int64, bool) {
		size, known := sizes[j.Spec.Name]
		return size[kind], known
	}
}
