package registry

import (
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fair"
)

// Settings of Hadoop's allocation file: its name and its content. A policy reads no files,
// so the program that makes the policy fills in the content.
const (
	AllocationFile = "mapred.fairscheduler.allocation.file"
	Allocations    = "hammr.scheduler.allocations"
)

func newFair(conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	s := settings{policy: "fair", conf: conf}
	c := fair.Config{
		Allocations:     s.allocations(),
		Placement:       setup.Placement,
		Preempt:         setup.Preempt,
		Preemption:      s.bool("mapred.fairscheduler.preemption"),
		SizeBasedWeight: s.bool("mapred.fairscheduler.sizebasedweight"),
		NewJobBoost:     s.bool("mapred.fairscheduler.newjobboost"),
		BoostFactor:     s.positive("mapred.newjobweightbooster.factor"),
		BoostMillis:     int64(s.positive("mapred.newjobweightbooster.duration")),
		LoadMaxDiff:     s.positive("mapred.fairscheduler.load.max.diff"),
	}
	c.Rankers = rankers(c.Allocations)
	if err := s.err(); err != nil {
		return nil, err
	}
	return fair.New(c), nil
}
