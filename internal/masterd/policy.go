package masterd

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"time"

	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/registry"
)

// Settings of every policy: the preemption mode of each slot kind.
const (
	mapPreemption    = "hammr.scheduler.map-preemption"
	reducePreemption = "hammr.scheduler.reduce-preemption"
)

// policyMaker is NewPolicy with a log line for each setting that has an old name.
func policyMaker(logger *slog.Logger) func(name string, conf map[string]string) (sched.Policy, error) {
	return func(name string, conf map[string]string) (sched.Policy, error) {
		conf, warnings := registry.Rename(conf)
		for _, text := range warnings {
			logger.Warn("scheduler setting has an old name", "policy", name, "warning", text)
		}
		return NewPolicy(name, conf)
	}
}

// NewPolicy makes the policy of a name for a running cluster. Unless its settings
// name another, the preemption mode is the cheapest one.
func NewPolicy(name string, conf map[string]string) (sched.Policy, error) {
	rest := maps.Clone(conf)
	modes := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}
	err := errors.Join(takeMode(rest, mapPreemption, &modes.Map), takeMode(rest, reducePreemption, &modes.Reduce))
	if err != nil {
		return nil, err
	}
	return registry.New(name, rest, sched.Setup{Placement: sched.DefaultPlacement(), Preempt: modes})
}

// takeMode moves a setting that names a preemption mode out of conf.
func takeMode(conf map[string]string, setting string, mode *preempt.Mode) error {
	text, set := conf[setting]
	if !set {
		return nil
	}
	delete(conf, setting)
	parsed, err := preempt.Parse(text)
	if err != nil {
		return fmt.Errorf("setting %s: %w", setting, err)
	}
	*mode = parsed
	return nil
}

// newPoolFile is the allocation file that the leader watches, nil for name "".
func newPoolFile(name string) *jobmaster.PoolFile {
	if name == "" {
		return nil
	}
	return &jobmaster.PoolFile{
		Name: name,
		Read: func() ([]byte, time.Time, error) { return readAllocations(name) },
		Parse: func(content []byte) (pools, warnings []string, err error) {
			a, err := pool.Parse(name, content)
			if err != nil {
				return nil, nil, err
			}
			for _, w := range a.Warnings {
				warnings = append(warnings, w.Error())
			}
			return a.LeafNames(), warnings, nil
		},
		// A policy whose pools come from another file keeps those.
		Set: func(policy string, conf map[string]string, content string) map[string]string {
			if own := conf[registry.AllocationFile]; !registry.HasPools(policy, conf) || own != "" && own != name {
				return conf
			}
			conf = maps.Clone(conf)
			if conf == nil {
				conf = make(map[string]string)
			}
			conf[registry.AllocationFile], conf[registry.Allocations] = name, content
			return conf
		},
	}
}

// maxAllocations bounds what is read of an allocation file, in bytes. A longer one
// is cut here and refused by the parser.
const maxAllocations = 8 << 20

// readAllocations reads an allocation file and when it was changed last.
func readAllocations(name string) (content []byte, changed time.Time, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, changed, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, changed, err
	}
	content, err = io.ReadAll(io.LimitReader(f, maxAllocations))
	return content, info.ModTime(), err
}
