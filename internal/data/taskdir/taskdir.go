// Package taskdir says where the files of attempts lie in a local directory of a tasknode:
//
//	LOCAL/JOB/SHARD/ATTEMPT/…           files of an attempt
//	LOCAL/JOB/SHARD/ATTEMPT.retained        record of a finished attempt
//	LOCAL/JOB/logs/SHARD/ATTEMPT/…      what an attempt has printed
//
// A SHARD has the attempts of 1,000 successive tasks of a stage, and the name of the first of
// them: attempt_1_0001_m_002345_0 is in m_002000. So the number of entries of a directory does
// not grow with the number of tasks of a job.
package taskdir

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Logs is the name of the directory with the logs of a job, in the directory of the job.
const Logs = "logs"

// tasksPerShard is the number of tasks in a shard.
const tasksPerShard = 1000

// InJob returns where the directory of an attempt is, relative to the directory of its job:
// SHARD/ATTEMPT. Relative to LOCAL/JOB/logs, the logs of the attempt are at the same place.
//
// If a name is not the id of an attempt, InJob returns the name itself.
func InJob(attempt string) string { return filepath.Join(shardOf(attempt), attempt) }

// JobDir returns the directory of the job, LOCAL/JOB, from the directory of an attempt or from
// another path next to it, such as that of its record.
func JobDir(path string) string {
	parent, name := filepath.Split(path)
	parent = filepath.Clean(parent)
	if shard := shardOf(name); shard != "" && filepath.Base(parent) == shard {
		return filepath.Dir(parent)
	}
	return parent
}

// LogDir returns the directory for the logs of an attempt from the directory of the attempt. It
// is not in that directory, so the logs remain when a failed attempt is removed, and are
// removed with the job.
func LogDir(attemptDir string) string {
	return filepath.Join(JobDir(attemptDir), Logs, InJob(filepath.Base(attemptDir)))
}

// IsShard reports whether the name of a directory is that of a shard.
func IsShard(name string) bool {
	stage, first, _ := strings.Cut(name, "_")
	n, err := strconv.ParseUint(first, 10, 31)
	return err == nil && isStage(stage) && shardName(stage, n) == name
}

// shardOf returns the shard of an attempt, "" if the name does not begin with the id of an
// attempt. The name may have a suffix, such as that of a record.
func shardOf(name string) string {
	parts := strings.Split(name, "_") // attempt_CLUSTER_JOB_STAGE_TASK_TRY
	if len(parts) != 6 || parts[0] != "attempt" || !isStage(parts[3]) {
		return ""
	}
	task, err := strconv.ParseUint(parts[4], 10, 31)
	if err != nil {
		return ""
	}
	return shardName(parts[3], task)
}

// shardName returns the name of the shard of a task.
func shardName(stage string, task uint64) string {
	return fmt.Sprintf("%s_%06d", stage, task/tasksPerShard*tasksPerShard)
}

// isStage reports whether text is the code of a stage in an id: m, r, or s and a number.
func isStage(text string) bool {
	index, other := strings.CutPrefix(text, "s")
	if !other {
		return text == "m" || text == "r"
	}
	_, err := strconv.ParseUint(index, 10, 31)
	return err == nil
}
