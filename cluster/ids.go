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

// The functions appendTo append the part of an id after the word job, task or attempt. That of
// a task begins with that of its job. A master prints and reads many ids for each task.

func (id JobID) appendTo(b []byte) []byte {
	b = append(append(b, '_'), id.Cluster...)
	return appendNumber(b, id.Number, jobDigits)
}

func (id TaskID) appendTo(b []byte) []byte {
	b = append(append(id.Job.appendTo(b), '_'), id.Stage...)
	return appendNumber(b, id.Number, taskDigits)
}

// The least numbers of digits in ids.
const (
	jobDigits     = 4
	taskDigits    = 6
	attemptDigits = 1
)

// appendNumber appends '_' and a number with at least so many digits.
func appendNumber(b []byte, n, digits int) []byte {
	if n < 0 {
		return fmt.Appendf(b, "_%0*d", digits, n) // of no attempt that exists
	}
	b = append(b, '_')
	for limit, d := 10, 1; d < digits; limit, d = limit*10, d+1 {
		if n < limit {
			b = append(b, '0')
		}
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// idBytes is the size of the buffer in which an id is printed. Longer ids need another one.
const idBytes = 64

func (id JobID) String() string {
	return string(id.appendTo(append(make([]byte, 0, idBytes), "job"...)))
}

func (id TaskID) String() string {
	return string(id.appendTo(append(make([]byte, 0, idBytes), "task"...)))
}

func (id AttemptID) String() string {
	b := id.Task.appendTo(append(make([]byte, 0, idBytes), "attempt"...))
	return string(appendNumber(b, id.Number, attemptDigits))
}

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

// ParseJobID reads the text of a JobID. Other text of the same numbers is not valid.
func ParseJobID(s string) (JobID, error) {
	tail, ok := strings.CutPrefix(s, "job")
	id, rest, valid := parseJob(tail)
	if !ok || !valid || rest != "" {
		return JobID{}, errBadID("job", s)
	}
	return id, nil
}

// ParseTaskID reads the text of a TaskID.
func ParseTaskID(s string) (TaskID, error) {
	tail, ok := strings.CutPrefix(s, "task")
	id, rest, valid := parseTask(tail)
	if !ok || !valid || rest != "" {
		return TaskID{}, errBadID("task", s)
	}
	return id, nil
}

// ParseAttemptID reads the text of an AttemptID.
func ParseAttemptID(s string) (AttemptID, error) {
	tail, ok := strings.CutPrefix(s, "attempt")
	task, rest, valid := parseTask(tail)
	n, rest, numbered := cutNumber(rest, attemptDigits)
	if !ok || !valid || !numbered || rest != "" {
		return AttemptID{}, errBadID("attempt", s)
	}
	return AttemptID{Task: task, Number: n}, nil
}

// parseJob reads "_T_0001" and returns what follows.
func parseJob(s string) (id JobID, rest string, ok bool) {
	id.Cluster, rest = cutWord(s)
	id.Number, rest, ok = cutNumber(rest, jobDigits)
	return id, rest, ok && id.Cluster != ""
}

// parseTask reads "_T_0001_m_000000" and returns what follows.
func parseTask(s string) (id TaskID, rest string, ok bool) {
	id.Job, rest, ok = parseJob(s)
	id.Stage, rest = cutWord(rest)
	var numbered bool
	id.Number, rest, numbered = cutNumber(rest, taskDigits)
	return id, rest, ok && isStage(id.Stage) && numbered
}

// cutWord returns the word of "_word" and "_rest" or "" after it; "" if there is none.
func cutWord(s string) (word, rest string) {
	s, ok := strings.CutPrefix(s, "_")
	if !ok {
		return "", ""
	}
	if i := strings.IndexByte(s, '_'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutNumber reads "_0012" and returns what follows. The number must be as appendNumber prints it.
func cutNumber(s string, digits int) (n int, rest string, ok bool) {
	word, rest := cutWord(s)
	n = number(word)
	return n, rest, n >= 0 && (len(word) == digits || len(word) > digits && word[0] != '0')
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
