package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// clusterCommandLines are command lines by the names of their golden files.
var clusterCommandLines = map[string]string{
	"job-list":               "job list",
	"job-list-all":           "job list --all",
	"job-list-json":          "job list --all --json",
	"job-list-state":         "job list --state Failed,prep --user bob",
	"job-list-queue":         "job list --queue nightly",
	"job-list-wrong":         "job list --state waiting",
	"job-status":             "job status job_1763700000000_0001",
	"job-status-waits":       "job status job_1763700000000_0002",
	"job-status-json":        "job status --json job_1763700000000_0003",
	"job-counter":            "job counters job_1763700000000_0001 Job_Counters Launched_map_tasks",
	"job-history":            "job history job_1763700000000_0003",
	"job-counters-json":      "job counters job_1763700000000_0001 --json",
	"job-history-json":       "job history job_1763700000000_0003 --json",
	"job-history-early":      "job history job_1763700000000_0001",
	"job-logs":               "job logs job_1763700000000_0001",
	"job-logs-json":          "job logs job_1763700000000_0001 --json",
	"job-logs-none":          "job logs job_1763700000000_0004",
	"job-kill":               "job kill job_1763700000000_0001 job_1763700000000_0003 job_7_0001",
	"job-kill-json":          "job kill --json job_1763700000000_0001 job_1763700000000_0002",
	"job-priority-json":      "job priority job_1763700000000_0001 very_low --json",
	"job-move":               "job move job_1763700000000_0001 nightly",
	"job-move-json":          "job move job_1763700000000_0001 nightly --json",
	"job-move-wrong":         "job move job_1763700000000_0001 weekly",
	"job-move-short":         "job move job_1763700000000_0001",
	"job-priority":           "job priority job_1763700000000_0001 high",
	"job-priority-wrong":     "job priority job_1763700000000_0001 urgent",
	"task-list":              "task list job_1763700000000_0001",
	"task-list-pending":      "task list job_1763700000000_0001 --state pending --type reduce",
	"task-list-json":         "task list job_1763700000000_0001 --json",
	"task-kill":              "task kill task_1763700000000_0001_m_000001",
	"task-kill-none":         "task kill task_1763700000000_0001_m_000000",
	"task-fail":              "task fail attempt_1763700000000_0001_m_000001_1 attempt_1763700000000_0001_m_000001_9 nonsense",
	"task-kill-json":         "task kill task_1763700000000_0001_m_000001 --json",
	"task-fail-json":         "task fail attempt_1763700000000_0001_m_000001_1 --json",
	"task-logs-json":         "task logs task_1763700000000_0001_m_000000 --json",
	"task-logs":              "task logs task_1763700000000_0001_m_000000",
	"job-suspend":            "job suspend job_1763700000000_0001 job_1763700000000_0003",
	"job-suspend-how":        "job suspend job_1763700000000_0001 --how suspend --json",
	"job-suspend-wrong":      "job suspend job_1763700000000_0001 --how kill",
	"job-resume":             "job resume job_1763700000000_0001 job_7_0001",
	"job-list-suspended":     "job list --state suspended",
	"job-status-halted":      "job status job_1763700000000_0004",
	"task-list-checkpointed": "task list job_1763700000000_0002",
	"task-list-still":        "task list job_1763700000000_0002 --state suspended",
	"task-preempt":           "task preempt attempt_1763700000000_0001_m_000001_1 attempt_1763700000000_0001_m_000001_9 --how auto",
	"task-preempt-task":      "task preempt task_1763700000000_0001_m_000001 --how suspend --json",
	"task-preempt-done":      "task preempt task_1763700000000_0001_m_000000 --how checkpoint",
	"task-preempt-way":       "task preempt attempt_1763700000000_0001_r_000000_0 --how split",
	"task-preempt-wrong":     "task preempt attempt_1763700000000_0001_r_000000_0 --how wait",
	"task-preempt-both":      "task preempt attempt_1763700000000_0001_r_000000_0 --how suspend --resume",
	"task-resume":            "task preempt attempt_1763700000000_0001_m_000001_1 --resume",
	"node-drain":             "node drain n4",
	"node-drain-json":        "node drain n4 --json",
	"node-drain-late":        "node drain n3 --deadline 1ms",
	"node-drain-list":        "node drain n3 --deadline 1ms --json",
	"node-drain-lost":        "node drain n5",
	"node-drain-undo":        "node drain n3 --undo",
	"node-drain-none":        "node drain n9",
	"node-drain-never":       "node drain n3 --deadline 0s",
	"node-list":              "node list",
	"node-list-all":          "node list --all",
	"node-list-json":         "node list --all --json",
	"node-remove":            "node remove n1 n9 n2",
	"node-remove-json":       "node remove n1 --json",
	"node-add":               "node add n1",
	"node-add-json":          "node add n1 n2 --json",
	"node-status":            "node status n1",
	"node-status-json":       "node status n2 --json",
	"node-unknown":           "node status n9",
	"node-losses":            "node losses",
	"node-losses-node":       "node losses n2",
	"node-losses-json":       "node losses n5 --json",
	"node-losses-none":       "node losses n1",
	"node-losses-unknown":    "node losses n9",
	"node-set":               "node set n1 n9 --map-slots 4",
	"node-set-json":          "node set n1 --map-slots 0 --reduce-slots 2 --json",
	"node-set-zero":          "node set n1 --map-slots 0 --reduce-slots 0",
	"node-set-wrong":         "node set n1 --map-slots -3",
	"node-set-nothing":       "node set n1",
	"master-status":          "master status",
	"master-status-json":     "master status --json",
	"master-add":             "master add m4 d",
	"master-remove":          "master remove m9",
	"master-transfer":        "master transfer m3",
	"master-any":             "master transfer",
	"master-replace":         "master replace m2 m4=d",
	"master-replace-json":    "master replace m1 m4=d:9 --json",
	"master-replace-wrong":   "master replace m2 m4",
	"master-replace-none":    "master replace m9 m4=d",
	"job-explain":            "job explain job_1763700000000_0001",
	"job-explain-task":       "job explain job_1763700000000_0001 task_1763700000000_0001_m_000002",
	"job-explain-json":       "job explain job_1763700000000_0001 task_1763700000000_0001_m_000002 --json",
	"job-explain-none":       "job explain job_7_0001",
	"job-explain-past":       "job explain job_1763700000000_0003 task_1763700000000_0003_m_000000",
	"job-explain-over":       "job explain job_1763700000000_0003 --json",
	"job-explain-gone":       "job explain job_7_0001 task_7_0001_m_000000",
	"job-explain-short":      "job explain",
	"job-explain-wrong":      "job explain job_1763700000000_0001 task_1763700000000_0001_m_000009",
	"queue-list":             "queue list",
	"queue-list-json":        "queue list --json",
	"queue-info":             "queue info nightly --show-jobs",
	"queue-info-json":        "queue info nightly --json --show-jobs",
	"queue-info-plain":       "queue info default",
	"queue-info-none":        "queue info weekly",
	"scheduler-show":         "scheduler show",
	"scheduler-json":         "scheduler show --json",
	"scheduler-set":          "scheduler set fair --conf b=2 --conf a=1=1",
	"scheduler-set-file":     "scheduler set fair --conf mapred.fairscheduler.allocation.file=testdata/pools.xml",
	"scheduler-bad":          "scheduler set fair --conf size",
	"master-add-json":        "master add m4 d:9 --json",
	"master-remove-json":     "master remove m3 --json",
	"master-hand-json":       "master transfer m3 --json",
	"scheduler-set-json":     "scheduler set fifo --json",
	"no-cluster":             "job list --master=",
}

// TestClusterCommandGoldens compares the whole output of the commands with golden files.
func TestClusterCommandGoldens(t *testing.T) {
	for name, line := range clusterCommandLines {
		t.Run(name, func(t *testing.T) {
			var changes []string
			var words []string
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "Job_") || strings.HasPrefix(word, "Launched_") {
					word = strings.ReplaceAll(word, "_", " ")
				}
				words = append(words, word)
			}
			code, stdout, stderr := runOnFakeCluster(t, &changes, words...)
			got := fmt.Sprintf("$ hammr %s\n%s", line, stdout)
			if stderr != "" {
				got += "--- stderr\n" + stderr
			}
			for _, change := range changes {
				got += "--- asked: " + change + "\n"
			}
			compareGolden(t, name, got+fmt.Sprintf("--- exit code %d\n", code))
		})
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	must.Do(t, err)
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
