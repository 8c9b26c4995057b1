package paper

import (
	"strconv"

	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
)

// HFSP is the paper on size-based scheduling. HFSP serves the job that would end first
// under processor sharing, by sizes that it estimates from the first tasks. The experiments
// compare it with FAIR and FIFO on two traces, vary the cluster and the errors of sizes,
// and check the theory on one server.
var HFSP = Paper{
	Name: "hfsp", Title: "HFSP: practical size-based scheduling for MapReduce", Runs: 20,
	Intro: `The two workloads are samples of the public Facebook traces, by the quotas of the paper's
table 1. The traces have bytes and no times, so **a model makes the times, and it determines
the results**. A map takes 2 s, and the time to read its bytes, so that a full block of 128
MiB takes 60 s in all. Reduces take times by the bytes that they shuffle in the same way. The
spread is lognormal with sigma 0.2. With these times the maps of FB2009 are a load of 1.6 on
100 machines while jobs arrive, and those of FB2010 a load of 5.2. The paper calls the first
"not heavily loaded", so FB2009 also runs with 30 s for a block, where the load is 0.8.

100 machines have 4 map slots and 2 reduce slots each, and report every second. Each block
has three copies. HFSP has the paper's parameters: 5 samples, uniform fit (which is the
mean), Delta 60 s, xi 1. Maps wait for slots, and reduces are suspended; memory is
sufficient. FAIR is one pool. Both wait for local maps: 4.5 s for a machine, and as long again
for a rack.`,
	Reruns: "The paper repeats its size errors 20 times. It does not give the other numbers of repetitions.",
	Plan:   planHFSP,
}

// planHFSP returns the experiments. It fails if the options' directory lacks the traces.
func planHFSP(o Options) ([]Experiment, error) {
	traces, err := facebook(o)
	if err != nil {
		return nil, err
	}
	one, err := hfspSingle()
	if err != nil {
		return nil, err
	}
	return []Experiment{
		one, hfspCapped(), hfspSmall(o, traces), hfspLarge(o, traces), hfspClusterSizes(o, traces), hfspErrors(o, traces), hfspPreemption(),
	}, nil
}

// The arms of most experiments.
const (
	fifoArm = "fifo"
	fairArm = "fair"
	hfspArm = "hfsp"
)

var compared = []string{fairArm, hfspArm}

// delayPlacement waits for local tasks, as Hadoop does.
var delayPlacement = sched.Placement{Method: sched.Delay, Delay: locality.Delay{MachineWait: 4500, RackWait: 4500}}

// suspendReduces are the paper's means: maps are never preempted.
var suspendReduces = preempt.Config{Map: preempt.Wait, Reduce: preempt.Suspend}

// fair and hfsp wait for local slots in the same way, so that they differ by the order of
// jobs alone.
func hfspArms() []Arm {
	return []Arm{
		{Name: fifoArm, Policy: "fifo", Setup: sched.Setup{Placement: delayPlacement}},
		{Name: fairArm, Policy: "fair", Conf: asInHadoop("fair"), Setup: sched.Setup{Placement: delayPlacement}},
		{Name: hfspArm, Policy: "hfsp", Setup: sched.Setup{Placement: delayPlacement, Preempt: suspendReduces}},
	}
}

// hfspCluster returns the cluster of section 4.1. The short form has a tenth of the machines
// and of the tasks, so its load is about the same.
func hfspCluster(o Options) sim.Config {
	nodes := 100
	if o.Short {
		nodes /= sampleEvery
	}
	return sim.Config{Machines: nodes, MapSlots: 4, ReduceSlots: 2, ReportInterval: 1000}
}

// hfspEstimator is the setting of how HFSP estimates sizes, by its name in sched/registry.
const hfspEstimator = "hammr.hfsp.estimator"

// sizeError makes HFSP mistake the sizes of jobs, uniformly by up to the part a. It uses the
// trial's seed, so repetitions draw different errors.
func sizeError(t *Trial, a float64) {
	t.set("hammr.hfsp.size-error", strconv.FormatFloat(a, 'g', -1, 64))
	t.set("hammr.hfsp.size-error-law", "uniform")
	t.set("hammr.hfsp.seed", strconv.FormatUint(t.Seed, 10))
}
