package live

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/hammr/hammr/sched/registry"
)

// withAllocations is what a policy is set to, with the content of its allocation
// file in a file beside the cluster: that is what the command takes.
func (c *Cluster) withAllocations(conf map[string]string) (map[string]string, error) {
	content, inside := conf[registry.Allocations]
	if !inside {
		return conf, nil
	}
	conf = maps.Clone(conf)
	delete(conf, registry.Allocations)
	conf[registry.AllocationFile] = filepath.Join(c.dir, "fair-scheduler.xml")
	if err := os.WriteFile(conf[registry.AllocationFile], []byte(content), 0o666); err != nil {
		return nil, fmt.Errorf("allocation file: %w", err)
	}
	return conf, nil
}

var poolElement = regexp.MustCompile(`<pool name="([^"]+)"`)

// poolsOf are the pools of the allocation file of a policy.
func poolsOf(conf map[string]string) (names []string) {
	for _, found := range poolElement.FindAllStringSubmatch(conf[registry.Allocations], -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
