package masterd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/registry"
)

// NewPolicy makes the policy with this name for a running cluster. The preemption mode is
// auto, unless the settings name another.
func NewPolicy(name string, conf map[string]string) (sched.Policy, error) {
	rest := maps.Clone(conf)
	modes := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}
	err := errors.Join(takeMode(rest, registry.MapPreemption, &modes.Map), takeMode(rest, registry.ReducePreemption, &modes.Reduce))
	if err != nil {
		return nil, err
	}
	return registry.New(name, rest, sched.Setup{Placement: sched.DefaultPlacement(), Preempt: modes})
}

// checkPolicy checks that this program has a policy, with its default settings.
func checkPolicy(name string) error {
	_, err := NewPolicy(name, nil)
	return err
}

// parsePolicy returns the policy and the settings in a text NAME,SETTING=VALUE,…
func parsePolicy(text string) (name string, conf map[string]string) {
	words := strings.Split(text, ",")
	conf = make(map[string]string)
	for _, word := range words[1:] {
		setting, value, _ := strings.Cut(word, "=")
		conf[setting] = value
	}
	return words[0], conf
}

func checkInitial(text string) error {
	_, err := NewPolicy(parsePolicy(text))
	return err
}

// takeMode removes a setting from conf and stores the preemption mode that it names.
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

// newPoolFile returns the allocation file that the leader watches, nil if name is "". It replaces
// the file with the name before, "" for none: pools of a policy from there are its own.
func newPoolFile(name, before string) *jobmaster.PoolFile {
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
		// If the pools of a policy come from another file, the settings stay unchanged.
		Set: func(policy string, conf map[string]string, content string) map[string]string {
			if own := conf[registry.AllocationFile]; !registry.HasPools(policy, conf) || own != "" && own != name && own != before {
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

// maxAllocations bounds how many bytes of an allocation file are read. A longer file is cut,
// and the parser refuses it.
const maxAllocations = 8 << 20

// readAllocations returns the content of an allocation file and the time of its last change.
func readAllocations(name string) (content []byte, changed time.Time, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, changed, err
	}
	defer f.Close() // the file was only read
	info, err := f.Stat()
	if err != nil {
		return nil, changed, err
	}
	content, err = io.ReadAll(io.LimitReader(f, maxAllocations))
	return content, info.ModTime(), err
}
