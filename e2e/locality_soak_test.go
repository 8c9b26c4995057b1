//go:build soak

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// The locality experiment of "Locality-aware fair scheduling for Hammr" on a
// real HDFS: 26 blocks of one copy each on 4 machines with 2 map slots.
const (
	localityBlocks   = 26
	localityMachines = 4
	localitySlots    = 2
	localityRuns     = 5
)

// TestSoakLocality runs wordcount over files whose blocks are placed differently each time.
// With flow, the number of local maps is at most one below the optimum in every run; the
// other placements are for comparison.
func TestSoakLocality(t *testing.T) {
	c, err := minihdfs.Start(t.Context(), minihdfs.Config{
		Dir: t.TempDir(), DataNodes: localityMachines, Replication: 1, BlockSize: blockSize,
		Racks: slices.Repeat([]string{"/rack1"}, localityMachines),
	})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	must(t, c.WaitLive(t.Context(), localityMachines))
	var hosts []string
	for i := range localityMachines {
		hosts = append(hosts, c.Host(i))
	}
	e := newEngine(t, "--tasknodes", fmt.Sprint(localityMachines), "--map-slots", fmt.Sprint(localitySlots), "--addresses", strings.Join(hosts, ","))
	prose := proseFile(t, "prose", localityBlocks*blockSize-blockSize/2)
	w := newWeb(t, c)
	for run := range localityRuns {
		in := fmt.Sprintf("%s/in%d", w.dir(), run)
		e.done("fs", "-D", "dfs.replication=1", "-D", fmt.Sprint("dfs.blocksize=", blockSize), "-put", prose, c.URI()+in)
		best := localOptimum(w.blockHosts(in))
		methods := []string{"flow", "none", "delay"}
		for turn := range methods {
			method := methods[(turn+run)%len(methods)] // so that each method is first in some runs
			doc := filepath.Join(t.TempDir(), "report")
			e.done("run", "wordcount", "--quiet", "--report", doc, "-D", "hammr.job.placement="+method,
				"-D", "hammr.debug.record.sleep=100us", "-D", "mapreduce.job.reduces=2", c.URI()+in, fmt.Sprintf("%s%s.%s", c.URI(), in, method))
			r, err := report.ReadFile(doc)
			must(t, err)
			local := r.Counters["Job Counters "]["Data-local map tasks"]
			t.Logf("run %d, %-5s: %d of %d maps local, %d possible, %.1f s", run+1, method, local, localityBlocks, best, r.ElapsedSeconds)
			if method == "flow" && local < int64(best)-1 {
				t.Errorf("run %d: %d maps were local, %d could have been", run+1, local, best)
			}
		}
	}
}

// localOptimum returns the number of maps that can be local if no machine runs more than its
// share of waves.
func localOptimum(blocks [][]string) (n int) {
	waves := (len(blocks) + localityMachines*localitySlots - 1) / (localityMachines * localitySlots)
	left := make(map[string]int)
	for _, names := range blocks {
		if _, known := left[names[0]]; !known {
			left[names[0]] = waves * localitySlots
		}
		if left[names[0]] > 0 {
			left[names[0]]--
			n++
		}
	}
	return n
}
