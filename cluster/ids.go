package cluster

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// JobID names a job. Its text is Hadoop's, "job_1763724000000_0001".
type JobID struct {
	Cluster string `cbor:"Cluster"` // id of the cluster: the time of its creation, as text without '_'
	Number  int    `cbor:"Number"`  // counts from 1
}

// TaskID names a task: "task_1763724000000_0001_m_000000".
type TaskID struct {
	Job    JobID  `cbor:"Job"`
	Stage  string `cbor:"Stage"`  // "m", "r", or "s" and the index of the stage
	Number int    `cbor:"Number"` // counts from 0
}

// AttemptID names a try at a task: "attempt_1763724000000_0001_m_000000_0".
type AttemptID struct {
	Task   TaskID `cbor:"Task"`
	Number int    `cbor:"Number"` // counts from 0
}

// tail returns the part of an id after the word job, task or attempt; the tail of a task's
// id begins with the tail of its job's id.
func (id JobID) tail() string { return fmt.Sprintf("%s_%04d", id.Cluster, id.Number) }

func (id JobID) String() string { return "job_" + id.tail() }

func (id TaskID) tail() string { return fmt.Sprintf("%s_%s_%06d", id.Job.tail(), id.Stage, id.Number) }

func (id TaskID) String() string { return "task_" + id.tail() }

func (id AttemptID) String() string { return fmt.Sprintf("attempt_%s_%d", id.Task.tail(), id.Number) }

// Compare orders jobs by number.
func (id JobID) Compare(other JobID) int {
	return cmp.Or(cmp.Compare(id.Number, other.Number), cmp.Compare(id.Cluster, other.Cluster))
}

// Compare orders tasks by job, stage and number.
func (id TaskID) Compare(other TaskID) int {
	return cmp.Or(id.Job.Compare(other.Job), cmp.Compare(id.Stage, other.Stage), cmp.Compare(id.Number, other.Number))
}

// Compare orders attempts by task, then number.
func (id AttemptID) Compare(other AttemptID) int {
	return cmp.Or(id.Task.Compare(other.Task), cmp.Compare(id.Number, other.Number))
}

// ParseJobID reads the text of a JobID.
func ParseJobID(s string) (JobID, error) {
	tail, ok := strings.CutPrefix(s, "job_")
	id, rest := parseJob(tail)
	if !ok || rest != nil || id.String() != s {
		return JobID{}, errBadID("job", s)
	}
	return id, nil
}

// ParseTaskID reads the text of a TaskID.
func ParseTaskID(s string) (TaskID, error) {
	tail, ok := strings.CutPrefix(s, "task_")
	id, rest := parseTask(tail)
	if !ok || len(rest) != 0 || id.String() != s {
		return TaskID{}, errBadID("task", s)
	}
	return id, nil
}

// ParseAttemptID reads the text of an AttemptID.
func ParseAttemptID(s string) (AttemptID, error) {
	tail, ok := strings.CutPrefix(s, "attempt_")
	task, rest := parseTask(tail)
	if !ok || len(rest) != 1 {
		return AttemptID{}, errBadID("attempt", s)
	}
	id := AttemptID{Task: task, Number: number(rest[0])}
	if id.String() != s {
		return AttemptID{}, errBadID("attempt", s)
	}
	return id, nil
}

// parseJob reads "T_0001" and returns what follows, split at '_'. It does not report errors:
// callers print the id and compare it with their input.
func parseJob(tail string) (JobID, []string) {
	parts := strings.Split(tail, "_")
	if len(parts) < 2 || parts[0] == "" {
		return JobID{}, nil
	}
	id := JobID{Cluster: parts[0], Number: number(parts[1])}
	if len(parts) == 2 {
		return id, nil
	}
	return id, parts[2:]
}

// parseTask reads "T_0001_m_000000" and returns what follows, split at '_'.
func parseTask(tail string) (TaskID, []string) {
	job, rest := parseJob(tail)
	if len(rest) < 2 || !isStage(rest[0]) {
		return TaskID{}, nil
	}
	return TaskID{Job: job, Stage: rest[0], Number: number(rest[1])}, rest[2:]
}

// isStage reports whether text is a stage's code in an id.
func isStage(code string) bool {
	index, other := strings.CutPrefix(code, "s")
	return code == "m" || code == "r" || other && number(index) >= 0
}

// number returns the value of decimal digits, -1 for any other text.
func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// errBadID returns the error for text that is not a valid id of the given kind.
func errBadID(what, s string) error {
	return fmt.Errorf("cluster: %q is not the id of a %s", s, what)
}
