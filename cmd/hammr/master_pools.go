package main

import (
	"io"
	"maps"
	"os"
	"time"

	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/registry"
)

// poolFile is the file of pools that the master follows while it leads, nil for
// none.
func (m *masterDaemon) poolFile() *jobmaster.PoolFile {
	name := m.cfg.allocations
	if name == "" {
		return nil
	}
	return &jobmaster.PoolFile{
		Name: name,
		Read: func() ([]byte, time.Time, error) { return readPools(name) },
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

// maxPools bounds what is read of a file of pools: one that is longer is refused
// when it is parsed.
const maxPools = 8 << 20 // bytes

func readPools(name string) (content []byte, changed time.Time, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, changed, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, changed, err
	}
	content, err = io.ReadAll(io.LimitReader(f, maxPools))
	return content, info.ModTime(), err
}
