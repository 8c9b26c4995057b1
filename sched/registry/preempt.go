package registry

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/hammr/hammr/preempt"
)

// MinRun is a setting of every policy: how long, in ms, an attempt that has resumed keeps
// its slot at least.
const MinRun = "hammr.preempt.min.run"

// Settings of every policy that say what preemption costs, as measured on the machines of
// a cluster. What attempts and machines report of their memory counts instead.
const (
	TaskMemory      = "hammr.preempt.task.memory"       // bytes of a task that has not reported its memory
	DiskRate        = "hammr.preempt.disk.rate"         // bytes/s that a machine's disk writes or reads
	SplitTime       = "hammr.preempt.split.time"        // ms in which a split map publishes its output
	SlotFreeLatency = "hammr.preempt.slot.free.latency" // ms until the master knows that a slot is free
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

// takePreempt reads the preemption settings that all policies share, and returns the
// other settings.
func takePreempt(policy string, conf map[string]string, config *preempt.Config) (rest map[string]string, err error) {
	s := settings{policy: policy, conf: make(map[string]string)}
	rest, _ = Rename(conf)
	for _, name := range []string{MinRun, TaskMemory, DiskRate, SplitTime, SlotFreeLatency} {
		if text, set := rest[name]; set {
			s.conf[name] = text
			delete(rest, name)
		}
	}
	if ms := s.millisOrNever(MinRun); ms != 0 {
		config.MinRunMillis = ms
	}
	for name, cost := range map[string]*int64{
		TaskMemory: &config.TaskBytes, DiskRate: &config.DiskRate, SplitTime: &config.SplitMillis, SlotFreeLatency: &config.SlotFreeLatency,
	} {
		if value := s.wholeNumber(name); value != 0 {
			*cost = value
		}
	}
	return rest, s.err()
}

// wholeNumber reads a whole number above 0; 0 if it is not set.
func (s *settings) wholeNumber(name string) int64 {
	return parsed(s, name, "a whole number above 0, at most 10^15", func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 || n > 1e15 {
			return 0, errors.New("out of range")
		}
		return n, nil
	})
}
