package splits

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hammr/hammr/storage"
)

// maxHosts is how many hosts a split names; more are of no use to a scheduler.
const maxHosts = 3

// load is how many bytes of a split each host holds.
type load map[string]int64

// add counts the bytes of blocks that lie in [start, start+length).
func (l load) add(blocks []storage.Block, start, length int64) {
	for _, b := range blocks {
		bytes := min(b.Offset+b.Length, start+length) - max(b.Offset, start)
		if bytes <= 0 {
			continue
		}
		for _, host := range b.Hosts {
			l[host] += bytes
		}
	}
}

// best is the hosts with the most bytes, best first, equal ones by name.
func (l load) best() []string {
	hosts := slices.SortedFunc(maps.Keys(l), func(a, b string) int {
		return cmp.Or(cmp.Compare(l[b], l[a]), cmp.Compare(a, b))
	})
	return hosts[:min(len(hosts), maxHosts)]
}
