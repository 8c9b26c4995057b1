package registry

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/hammr/hammr/preempt"
)

// MinRun is the setting, of every policy, that says for how many ms an attempt that
// has been resumed runs at least before its slot may be taken again.
const MinRun = "hammr.preempt.min.run"

// Settings, of every policy, that say what it costs to take slots: as measured on the
// machines of a cluster. What attempts and machines tell of their memory counts more.
const (
	TaskMemory      = "hammr.preempt.task.memory"       // bytes that a task holds in memory, of which that is not known
	DiskRate        = "hammr.preempt.disk.rate"         // bytes that a machine's disk takes or gives in a second
	SplitTime       = "hammr.preempt.split.time"        // ms in which an attempt that ends early publishes what it has done
	SlotFreeLatency = "hammr.preempt.slot.free.latency" // ms until it is known that a slot is free
)

// renamed maps old names of settings to their present ones.
var renamed = map[string]string{"hammr.preempt.free.time": SlotFreeLatency}

// Rename replaces old names of settings in a copy of conf. It returns a warning for
// each. If both names are set, the present one counts.
func Rename(conf map[string]string) (current map[string]string, warnings []string) {
	current = maps.Clone(conf)
	for old, name := range renamed {
		text, set := conf[old]
		if !set {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s is deprecated. Instead, use %s", old, name))
		delete(current, old)
		if _, both := conf[name]; !both {
			current[name] = text
		}
	}
	return current, warnings
}

// takePreempt takes what says how slots are taken, whatever the policy, out of what one
// is set to.
func takePreempt(policy string, conf map[string]string, means *preempt.Config) (rest map[string]string, err error) {
	s := settings{policy: policy, conf: make(map[string]string)}
	rest, _ = Rename(conf)
	conf = rest
	rest = maps.Clone(rest)
	for _, name := range []string{MinRun, TaskMemory, DiskRate, SplitTime, SlotFreeLatency} {
		if text, set := conf[name]; set {
			s.conf[name] = text
			delete(rest, name)
		}
	}
	if ms := s.span(MinRun); ms != 0 {
		means.MinRunMillis = ms
	}
	for name, cost := range map[string]*int64{
		TaskMemory: &means.TaskBytes, DiskRate: &means.DiskRate, SplitTime: &means.SplitMillis, SlotFreeLatency: &means.SlotFreeLatency,
	} {
		if value := s.wholeNumber(name); value != 0 {
			*cost = value
		}
	}
	return rest, s.err()
}

// wholeNumber is a whole number above 0, 0 when it is not set.
func (s *settings) wholeNumber(name string) int64 {
	return parsed(s, name, "a whole number above 0, at most 10^15", func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 || n > 1e15 {
			return 0, errors.New("out of range")
		}
		return n, nil
	})
}
