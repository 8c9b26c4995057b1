package registry

import (
	"cmp"
	"errors"
	"maps"
	"strconv"

	"github.com/hammr/hammr/sched"
)

// PlacementMethod is a setting of every policy: the sched.Method for jobs that name
// none themselves.
const PlacementMethod = "hammr.scheduler.placement"

// Settings of every policy for delay scheduling: how long, in ms, a slot waits for tasks
// with their input on its machine, and then for those with it in its rack. LocalityDelay
// sets both; -1 is the cluster's default. If one of them is set and PlacementMethod is
// not, the method is sched.Delay.
const (
	LocalityDelay = "mapred.fairscheduler.locality.delay"
	NodeDelay     = LocalityDelay + ".node"
	RackDelay     = LocalityDelay + ".rack"
)

// takePlacement reads the placement settings that all policies share, and returns the
// other settings.
func takePlacement(policy string, conf map[string]string, p *sched.Placement) (rest map[string]string, err error) {
	s := settings{policy: policy, conf: make(map[string]string)}
	rest = maps.Clone(conf)
	for _, name := range []string{PlacementMethod, LocalityDelay, NodeDelay, RackDelay} {
		if text := conf[name]; text != "" {
			s.conf[name] = text
		}
		delete(rest, name)
	}
	method := parsed(&s, PlacementMethod, "flow, delay or none", sched.ParseMethod)
	if len(s.conf) > 0 {
		p.Method = cmp.Or(method, sched.Delay)
	}
	if both := s.wait(LocalityDelay, -1); both >= 0 {
		p.Delay.MachineWait, p.Delay.RackWait = both, both
	}
	p.Delay.MachineWait, p.Delay.RackWait = s.wait(NodeDelay, p.Delay.MachineWait), s.wait(RackDelay, p.Delay.RackWait)
	return rest, s.err()
}

// wait reads a number of ms. It returns otherwise if the setting is missing or -1.
func (s *settings) wait(name string, otherwise int64) int64 {
	if s.text(name) == "" {
		return otherwise
	}
	ms := parsed(s, name, "a whole number of ms, or -1", func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < -1 || n > 1e15 {
			return -1, errors.New("out of range")
		}
		return n, nil
	})
	if ms < 0 {
		return otherwise
	}
	return ms
}
