package registry

import (
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/hammr"
)

func newHammr(conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	s := settings{policy: "hammr", conf: conf}
	c := hammr.Config{
		Allocations:    s.allocations(),
		Placement:      setup.Placement,
		Preempt:        setup.Preempt,
		IgnoreLocality: s.off("hammr.scheduler.locality"),
		NoPreemption:   s.off("hammr.scheduler.preemption"),
		Threshold:      s.fraction("hammr.scheduler.preemption.threshold"),
		Timeout:        int64(s.positive("hammr.scheduler.preemption.timeout")),
	}
	c.Rankers = rankers(c.Allocations)
	if err := s.err(); err != nil {
		return nil, err
	}
	return hammr.New(c), nil
}
