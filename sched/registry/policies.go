package registry

import (
	"errors"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/disco"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/hammr"
	"github.com/hammr/hammr/sched/hfsp"
	"github.com/hammr/hammr/sched/pool"
)

// Settings of Hadoop's allocation file: its name and its content. A policy reads no files,
// so the program that makes the policy fills in the content.
const (
	AllocationFile = "mapred.fairscheduler.allocation.file"
	Allocations    = "hammr.scheduler.allocations"
)

// ConserveShares is the setting of the fair policy that keeps the shares of jobs and pools by
// suspending and checkpointing attempts. False is Hadoop's behavior.
const ConserveShares = "hammr.fair.conserve.shares"

// The built-in policies are registered as those of other modules are.
func init() {
	Register("disco", Policy{New: newDisco, Settings: discoSettings})
	Register("fair", Policy{New: newFair, Settings: fairSettings, Pools: true})
	Register("fifo", Policy{New: newFIFO})
	Register("hammr", Policy{New: newHammr, Settings: hammrSettings, Pools: true})
	Register("hfsp", Policy{New: newHFSP, Settings: hfspSettings, JobSizes: true})
}

// newFIFO makes the policy without settings of its own.
func newFIFO(_ *Settings, setup sched.Setup) sched.Policy { return fifo.New(setup.Placement) }

// newDisco reads the settings of Disco's scheduler. The only setting is the time for which a
// slot waits for a job between two stages. Disco's paper gives no value for it.
func newDisco(s *Settings, setup sched.Setup) sched.Policy {
	return disco.New(disco.Config{
		Placement:     setup.Placement,
		Preempt:       setup.Preempt,
		ReserveMillis: int64(s.Positive("hammr.disco.transition.hold")),
	})
}

// weightBooster is Hadoop's class that weighs new jobs more.
const weightBooster = "org.apache.hadoop.mapred.NewJobWeightBooster"

// newFair reads the settings of Hadoop's fair scheduler, under Hadoop's names.
func newFair(s *Settings, setup sched.Setup) sched.Policy {
	booster := Parsed(s, "mapred.fairscheduler.weightadjuster", weightBooster+", since Hammr loads no classes", func(class string) (bool, error) {
		if class != weightBooster {
			return false, errors.New("unknown")
		}
		return true, nil
	})
	c := fair.Config{
		Allocations:     s.Allocations(),
		Placement:       setup.Placement,
		Preempt:         setup.Preempt,
		Preemption:      s.Bool("mapred.fairscheduler.preemption"),
		ConserveShares:  !s.Off(ConserveShares),
		SizeBasedWeight: s.Bool("mapred.fairscheduler.sizebasedweight"),
		NewJobBoost:     s.Bool("mapred.fairscheduler.newjobboost"),
		BoostFactor:     s.Positive("mapred.newjobweightbooster.factor"),
		BoostMillis:     int64(s.Positive("mapred.newjobweightbooster.duration")),
		LoadMaxDiff:     s.Positive("mapred.fairscheduler.load.max.diff"),
	}
	c.NewJobBoost = c.NewJobBoost || booster
	c.Rankers = rankers(c.Allocations)
	return fair.New(c)
}

// newHammr reads the settings of the scheduler of the Hammr paper. Locality and
// preemption are on unless they are set to false.
func newHammr(s *Settings, setup sched.Setup) sched.Policy {
	c := hammr.Config{
		Allocations:    s.Allocations(),
		Placement:      setup.Placement,
		Preempt:        setup.Preempt,
		IgnoreLocality: s.Off("hammr.scheduler.locality"),
		NoPreemption:   s.Off("hammr.scheduler.preemption"),
		Threshold:      s.Fraction("hammr.scheduler.preemption.threshold"),
		Timeout:        int64(s.Positive("hammr.scheduler.preemption.timeout")),
	}
	c.Rankers = rankers(c.Allocations)
	return hammr.New(c)
}

// rankers returns the orders that pools may have in addition to the orders of the policy
// itself. It leaves out an order that no pool uses, since updating it takes time. HFSP
// within a pool has its default settings: the names of its own settings belong to the policy
// hfsp.
func rankers(a *pool.Allocations) map[pool.Order]sched.Ranker {
	if a == nil || !a.UsesOrder(pool.HFSP) {
		return nil
	}
	return map[pool.Order]sched.Ranker{pool.HFSP: hfsp.NewRanker(hfsp.Config{})}
}
