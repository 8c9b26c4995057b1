package registry

import (
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/disco"
)

func newDisco(conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	s := settings{policy: "disco", conf: conf}
	c := disco.Config{
		Placement:     setup.Placement,
		Preempt:       setup.Preempt,
		ReserveMillis: int64(s.positive("hammr.disco.transition.hold")),
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	return disco.New(c), nil
}
