package taskdir

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/cluster"
)

func TestInJob(t *testing.T) {
	for attempt, want := range map[string]string{
		"attempt_1_0001_m_000000_0":         "m_000000/attempt_1_0001_m_000000_0",
		"attempt_1_0001_m_000999_12":        "m_000000/attempt_1_0001_m_000999_12",
		"attempt_local17_12345_r_001000_0":  "r_001000/attempt_local17_12345_r_001000_0",
		"attempt_1_0001_s12_1234567_0":      "s12_1234000/attempt_1_0001_s12_1234567_0",
		"attempt_1_a":                       "attempt_1_a",
		"attempt_1_0001_x_000000_0":         "attempt_1_0001_x_000000_0",
		"attempt_1_0001_s_000000_0":         "attempt_1_0001_s_000000_0",
		"attempt_1_0001_.._000000_0":        "attempt_1_0001_.._000000_0",
		"attempt_1_0001_m_-1_0":             "attempt_1_0001_m_-1_0",
		"attempt_1_0001_m_99999999999999_0": "attempt_1_0001_m_99999999999999_0",
		"attempt_1_0001_m_000000_0_1":       "attempt_1_0001_m_000000_0_1",
		"task_1_0001_m_000000_0":            "task_1_0001_m_000000_0",
		"attempt_1_0001_m_000000":           "attempt_1_0001_m_000000",
	} {
		if got := InJob(attempt); got != want {
			t.Errorf("%s: %s, want %s", attempt, got, want)
		}
	}
}

func TestIsShard(t *testing.T) {
	for name, want := range map[string]bool{
		"m_000000": true, "r_001000": true, "s0_000000": true, "s12_1234000": true,
		"m_000001": false, "m_1000": false, "m_": false, "m": false, "": false, "x_000000": false, "s_000000": false, "m_0000000": false,
		"m_000000_0": false, "m_-00000": false, "logs": false, "logdir": false, "attempt_1_0001_m_000000_0": false, "..": false,
	} {
		if got := IsShard(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

func TestDirectoriesAreFoundFromTheAttempts(t *testing.T) {
	const attempt = "attempt_1_0001_m_001234_0"
	for dir, want := range map[string]string{
		"/d/job_1_0001/m_001000/" + attempt:               "/d/job_1_0001",
		"/d/job_1_0001/m_001000/" + attempt + ".retained": "/d/job_1_0001",
		"/d/job_1_0001/" + attempt:                        "/d/job_1_0001",
		"/d/job_1_0001/" + attempt + ".retained.tmp":      "/d/job_1_0001",
		"/d/job_1_0001/m_000000/" + attempt:               "/d/job_1_0001/m_000000", // not its shard
		"/d/job_1_0001/other":                             "/d/job_1_0001",
		"d/a":                                             "d",
	} {
		if got := JobDir(dir); got != want {
			t.Errorf("%s: job %s, want %s", dir, got, want)
		}
	}
	for _, place := range []string{InJob(attempt), attempt} {
		if got, want := LogDir("/d/job_1_0001/"+place), "/d/job_1_0001/logs/m_001000/"+attempt; got != want {
			t.Errorf("%s: logs in %s, want %s", place, got, want)
		}
	}
}

// TestShardsAreSmall checks for every valid id that its place is inside the job's directory and
// leads back to it, and that a shard has attempts of tasksPerShard tasks of one stage only.
func TestShardsAreSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := cluster.AttemptID{
			Task: cluster.TaskID{
				Job:    cluster.JobID{Cluster: rapid.StringMatching(`[a-z0-9]{1,13}`).Draw(t, "cluster"), Number: rapid.IntRange(1, 1<<20).Draw(t, "job")},
				Stage:  rapid.SampledFrom([]string{"m", "r", "s0", "s3", "s12"}).Draw(t, "stage"),
				Number: rapid.IntRange(0, 1<<31-1).Draw(t, "task"),
			},
			Number: rapid.IntRange(0, 100).Draw(t, "try"),
		}
		job := "/local/" + id.Task.Job.String()
		place := InJob(id.String())
		shard := filepath.Dir(place)
		if !filepath.IsLocal(place) || strings.Count(place, "/") != 1 || !IsShard(shard) || JobDir(filepath.Join(job, place)) != job {
			t.Fatalf("%v is at %s", id, place)
		}
		first := id.Task.Number / tasksPerShard * tasksPerShard
		if want := fmt.Sprintf("%s_%06d", id.Task.Stage, first); shard != want {
			t.Fatalf("%v is in %s, want %s", id, shard, want)
		}
	})
}
