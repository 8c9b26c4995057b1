package workload

import (
	"errors"
	"fmt"
)

// maxErrors limits the errors that are listed: a trace with swapped columns has one in each
// of its thousands of lines.
const maxErrors = 20

// problems collects errors into one that lists them all. It is used by all readers, which
// therefore report errors in one style: where, what was found, what was expected.
type problems struct {
	errs []error
	more int
}

// add takes an error's text; after maxErrors it only counts.
func (f *problems) add(format string, args ...any) {
	if len(f.errs) >= maxErrors {
		f.more++
		return
	}
	f.errs = append(f.errs, fmt.Errorf(format, args...))
}

// check adds an error's text unless ok is true.
func (f *problems) check(ok bool, format string, args ...any) {
	if !ok {
		f.add(format, args...)
	}
}

// err returns nil if nothing was added.
func (f *problems) err() error {
	if f.more > 0 {
		return errors.Join(append(f.errs, fmt.Errorf("and %d more errors", f.more))...)
	}
	return errors.Join(f.errs...)
}

// Validate reports every error of the workload: empty or repeated ids, jobs out of order,
// times, sizes or weights out of range, jobs without maps. Readers call the same rules job
// by job.
func (w *Workload) Validate() error {
	var f problems
	seen := make(map[string]int, len(w.Jobs))
	// Jobs are in the order of submission.
	last, tasks, bytes := int64(0), 0, int64(0)
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if first, twice := seen[j.ID]; twice {
			f.add("job %d: id %q is that of job %d, expected unique ids", i+1, j.ID, first+1)
		} else {
			seen[j.ID] = i
		}
		f.check(j.Submit >= last, "job %d (%q): submitted at %d ms, before the previous job at %d ms, expected order of submission", i+1, j.ID, j.Submit, last)
		last = max(last, j.Submit)
		tasks += len(j.Maps) + len(j.Reduces)
		j.validate(&f, i)
		bytes = addBytes(addBytes(bytes, j.Maps), j.Reduces)
	}
	f.check(tasks <= MaxTasks, "%d tasks in all jobs, expected at most %d", tasks, MaxTasks)
	f.check(bytes <= MaxBytes, "more than %d bytes in all jobs, which is the limit", int64(MaxBytes))
	return f.err()
}

// validate reports the errors of the job alone; i is its index.
func (j *Job) validate(f *problems, i int) {
	at := fmt.Sprintf("job %d (%q)", i+1, j.ID)
	f.check(j.ID != "", "%s: no id, expected a unique one", at)
	f.check(j.Submit >= 0 && j.Submit <= MaxMillis, "%s: submitted at %d ms, expected 0 to %d", at, j.Submit, int64(MaxMillis))
	f.check(j.Priority >= -2 && j.Priority <= 2, "%s: priority %d, expected -2 (very low) to 2 (very high)", at, j.Priority)
	f.check(j.SlowStart <= 1, "%s: slow start %v, expected 0 to 1, or less than 0 for %v", at, j.SlowStart, DefaultSlowStart)
	for _, mb := range j.MemoryMB {
		f.check(mb >= 0 && mb <= MaxMemoryMB, "%s: a task takes %d MiB, expected 0 to %d", at, mb, int64(MaxMemoryMB))
	}
	f.check(len(j.Maps) > 0, "%s: no maps, expected at least one", at)
	validateTasks(f, at, "map", j.Maps)
	validateTasks(f, at, "reduce", j.Reduces)
}

func validateTasks(f *problems, at, kind string, tasks []Task) {
	for n, t := range tasks {
		if t.Millis < 0 || t.Millis > MaxMillis {
			f.add("%s: %s %d takes %d ms, expected 0 to %d", at, kind, n, t.Millis, int64(MaxMillis))
		}
		if t.Bytes < 0 {
			f.add("%s: %s %d has %d bytes, expected 0 or more", at, kind, n, t.Bytes)
		}
	}
}

// addBytes adds the bytes of tasks to a sum. The sum stops growing above MaxBytes, so that
// it does not overflow.
func addBytes(sum int64, tasks []Task) int64 {
	for _, t := range tasks {
		if t.Bytes > MaxBytes-min(sum, MaxBytes) {
			return MaxBytes + 1
		}
		sum += max(0, t.Bytes)
	}
	return sum
}
