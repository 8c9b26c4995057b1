package workload

import (
	"fmt"
	"path/filepath"
	"strings"
)

// collector gathers the jobs of one source. Each of its errors names the source and the
// line.
//
//	reader ── addJob, errorAt ─► collector ── workload ─► Workload, or all errors joined
//
// Readers continue after an error, so that a user can correct a file in one pass; maxErrors
// bounds the list.
type collector struct {
	problems
	source string
	limit  int // tasks of all jobs

	jobs    []Job
	foundAt map[string]string // place, by id
	notes   []string
	tasks   int
	bytes   int64
}

// newCollector returns an empty collector; limit is Options.MaxTasks.
func newCollector(source string, limit int) *collector {
	return &collector{source: source, limit: limit, foundAt: make(map[string]string)}
}

// errorAt adds an error of a line, counted from 1. All errors begin with source:line, which
// editors can open.
func (c *collector) errorAt(line int, format string, args ...any) {
	c.add("%s:%d: %s", c.source, line, fmt.Sprintf(format, args...))
}

// allowTasks reports whether this number of further tasks is allowed, and adds an error if
// not. Readers ask before they allocate the tasks. A number with three digits too many must
// not exhaust the memory.
func (c *collector) allowTasks(line int, tasks int64) bool {
	if left := int64(c.limit - c.tasks); tasks > left {
		c.errorAt(line, "%d tasks beyond the %d before, expected at most %d in all jobs", tasks, c.tasks, c.limit)
		return false
	}
	return true
}

// addJob adds the job of a line, or errors that describe what is wrong with it. It applies
// the rules of Validate, so the result needs no second check.
func (c *collector) addJob(line int, j Job) {
	if first, twice := c.foundAt[j.ID]; twice {
		c.errorAt(line, "job id %q is repeated, first at %s; expected unique ids", j.ID, first)
		return
	}
	c.foundAt[j.ID] = fmt.Sprintf("%s:%d", c.source, line)
	var own problems
	j.validate(&own, len(c.jobs))
	for _, err := range own.errs {
		c.errorAt(line, "%v", err)
	}
	c.more += own.more
	c.tasks += len(j.Maps) + len(j.Reduces)
	c.jobs = append(c.jobs, j)
	if c.bytes = addBytes(addBytes(c.bytes, j.Maps), j.Reduces); c.bytes > MaxBytes {
		c.errorAt(line, "more than %d bytes in all jobs so far, which is the limit", int64(MaxBytes))
		c.bytes = 0
	}
}

// addJobInOrder does what addJob does, for a source that is sorted by time. A trace out of
// order is refused, not sorted: the usual cause is a wrong column.
func (c *collector) addJobInOrder(line int, j Job) {
	if n := len(c.jobs); n > 0 && j.Submit < c.jobs[n-1].Submit {
		c.errorAt(line, "job %q arrives at %g s, before the previous job at %g s; expected order of arrival",
			j.ID, seconds(j.Submit), seconds(c.jobs[n-1].Submit))
		return
	}
	c.addJob(line, j)
}

// workload returns the workload, or all errors. A source without jobs is an error that has
// the notes, since they say what was left out.
func (c *collector) workload() (*Workload, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	if len(c.jobs) == 0 {
		return nil, fmt.Errorf("%s: no jobs, expected at least one%s", c.source, strings.Join(append([]string{""}, c.notes...), "; "))
	}
	return &Workload{Name: filepath.Base(c.source), Jobs: c.jobs, Notes: c.notes}, nil
}

// seconds converts ms for messages.
func seconds(ms int64) float64 { return float64(ms) / 1000 }
