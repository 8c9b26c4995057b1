package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHistoryForHadoop writes the files of a finished job.
func TestHistoryForHadoop(t *testing.T) {
	var changes []string
	dir := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := runOnFakeCluster(t, &changes, "job", "history", "job_1763700000000_0003", "--format", "jhist", "--out", dir)
	file := strings.TrimSpace(stdout)
	text, err := os.ReadFile(file)
	if code != 0 || err != nil || filepath.Dir(file) != dir || !strings.HasPrefix(string(text), "Avro-Json\n{") {
		t.Errorf("exit %d, %v, %s%s", code, err, stdout, stderr)
	}
	for _, line := range []string{"--format jhist", "--out x", "--format avro --out x"} {
		args := append([]string{"job", "history", "job_1763700000000_0003"}, strings.Fields(line)...)
		if code, _, stderr := runOnFakeCluster(t, &changes, args...); code != 2 || !strings.Contains(stderr, "--format") {
			t.Errorf("%s: exit %d, %s", line, code, stderr)
		}
	}
	dir = filepath.Join(t.TempDir(), "early")
	if code, _, stderr := runOnFakeCluster(t, &changes, "job", "history", "job_1763700000000_0001", "--format", "jhist", "--out", dir); code != 1 || !strings.Contains(stderr, "is not over") {
		t.Errorf("a job that runs: exit %d, %s", code, stderr)
	}
}
