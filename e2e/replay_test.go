package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReplayOfATrace runs the jobs of a SWIM trace on a cluster of its own. The table has
// the columns of the simulator's, and names the policy of the cluster.
func TestReplayOfATrace(t *testing.T) {
	t.Parallel()
	trace := newFile(t, "trace.tsv", []byte("job0\t0\t0\t1000\t1000\t1000\njob1\t1\t1\t2000\t0\t10\n"))
	dir := t.TempDir()
	table := func(name string, args ...string) []string {
		t.Helper()
		out := filepath.Join(dir, name)
		done(t, append(args, "--swim", trace, "--out", out)...)
		return strings.Split(strings.TrimSpace(string(readFile(t, filepath.Join(out, "jobs.csv")))), "\n")
	}
	played := table("real", "bench", "replay", "--cluster", "--nodes", "2", "--scale", "0.01", "--speed", "20")
	simulated := table("sim", "sim", "run", "--nodes", "2", "--policy", "fifo")
	if len(played) != 3 || len(simulated) != 3 || played[0] != simulated[0] {
		t.Fatalf("played:\n%q\nsimulated:\n%q", played, simulated)
	}
	for i, line := range played[1:] {
		if !strings.HasPrefix(line, "fifo,job") || !strings.HasPrefix(simulated[i+1], strings.Join(strings.Split(line, ",")[:3], ",")+",") {
			t.Errorf("%s, simulated %s", line, simulated[i+1])
		}
	}
}
