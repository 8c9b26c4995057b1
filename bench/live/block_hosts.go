package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/testcluster"
)

// blockHosts are the machines that have the input of each map of a job. The index is the
// number of the map, since each block is one split. A map that was split off another map has
// no entry, since its input is not known.
type blockHosts [][]string

// local reports whether a machine has a map's input.
func (h blockHosts) local(task int, machine string) bool {
	return task >= 0 && task < len(h) && slices.Contains(h[task], machine)
}

// locateBlocks returns the hosts of a file's blocks, each of which is the input of one map.
// HDFS reports addresses, and each address belongs to the DataNode of one tasknode.
func (g *hdfsInput) locateBlocks(ctx context.Context, uri string) (blockHosts, error) {
	text, err := testcluster.Program{File: g.hammr}.Run(ctx, "fs", "-blocks", uri)
	if err != nil {
		return nil, err
	}
	machines := make(map[string]string)
	for i := range g.hdfs.DataNodes() {
		machines[g.hdfs.Host(i)] = tasknodeName(i)
	}
	return parseBlocks(text, machines)
}

// parseBlocks parses the output of `hammr fs -blocks` for one file: a line with its name,
// and for each block "offset TAB length TAB host,host". Hosts outside of the cluster are
// ignored.
func parseBlocks(text string, machines map[string]string) (list blockHosts, err error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("blocks of a file: %q is none", line)
		}
		var of []string
		for host := range strings.SplitSeq(fields[2], ",") {
			if name := machines[host]; name != "" {
				of = append(of, name)
			}
		}
		list = append(list, of)
	}
	return list, nil
}
