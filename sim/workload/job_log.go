package workload

import (
	"fmt"
	"slices"
	"strings"
)

// maxTime bounds the times of a log, ms since the epoch: beyond it they are no
// times.
const maxTime = 1 << 53

// loggedJob is a job that a cluster has run, as a log of whatever form tells of
// it.
type loggedJob struct {
	Job          // without its tasks; Submit is ms since the epoch
	finish int64 // ms since the epoch, 0 when the log does not say
	tasks  []loggedTask
}

// loggedTask is one task of it, with all attempts.
type loggedTask struct {
	id       string
	reduce   bool
	bytes    int64
	attempts []loggedAttempt
}

// loggedAttempt is one try at a task. Times are ms since the epoch.
type loggedAttempt struct {
	succeeded    bool
	checkpointed bool  // it made room, and another attempt went on from where it was
	start        int64 // 0 when it never began
	shuffledAt   int64 // when a reduce had all its input, 0 when the log does not say
	finish       int64 // 0 when it never ended
	machine      string
}

// unknownMillis marks a task that has no attempt which succeeded.
const unknownMillis = -1

// jobLog gathers past jobs until all are known: logs have no order.
type jobLog struct {
	*collector
	logged    []loggedLine
	unmatched int // jobs with tasks whose time is an estimate
	empty     int // jobs of which no map ever finished
	graphs    int // jobs with stages that are neither maps nor reduces
}

type loggedLine struct {
	source string
	line   int
	job    loggedJob
}

func newJobLog(source string, o *Options) *jobLog {
	return &jobLog{collector: newCollector(source, o.MaxTasks)}
}

// addLogged remembers a job, or tells what is wrong with its times.
func (h *jobLog) addLogged(line int, j loggedJob) {
	if j.Submit < 0 || j.Submit > maxTime {
		h.errorAt(line, "job %q: submitted at %d, expected ms since 1970", j.ID, j.Submit)
		return
	}
	for _, t := range j.tasks {
		for _, a := range t.attempts {
			if a.start < 0 || a.finish > maxTime || a.finish != 0 && a.finish < a.start {
				h.errorAt(line, "job %q: an attempt at task %q from %d to %d, expected ms since 1970, and an end behind the start", j.ID, t.id, a.start, a.finish)
				return
			}
		}
	}
	h.logged = append(h.logged, loggedLine{h.source, line, j})
}

// workload is the jobs in order of their submission, the first of them at 0.
// Jobs submitted together keep the order of the log.
func (h *jobLog) workload() (*Workload, error) {
	slices.SortStableFunc(h.logged, func(a, b loggedLine) int {
		return int(min(max(a.job.Submit-b.job.Submit, -1), 1))
	})
	source, first := h.source, int64(-1)
	for _, p := range h.logged {
		h.source = p.source
		j, ok := h.withTaskTimes(p.job)
		if !ok || !h.allowTasks(p.line, int64(len(j.Maps)+len(j.Reduces))) {
			continue
		}
		if first < 0 {
			first = j.Submit
		}
		j.Submit -= first
		h.addJob(p.line, j)
	}
	h.source = source
	h.addNote(h.empty, "jobs left out, as none of their maps ever finished")
	h.addNote(h.unmatched, "jobs with tasks that never finished, which take the mean of the others")
	h.addNote(h.graphs, "jobs with stages of a graph, which run as maps and reduces")
	w, err := h.collector.workload()
	if err == nil {
		w.Observed = observedCluster(h.logged)
	}
	return w, err
}

func (h *jobLog) addNote(n int, what string) {
	if n > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%s: %d", what, n))
	}
}

// withTaskTimes is the job with the times that its tasks took. Without one map that
// finished there is nothing to go by.
func (h *jobLog) withTaskTimes(p loggedJob) (Job, bool) {
	j := p.Job
	j.Recorded = max(p.finish-p.Submit, 0)
	maps := p.lastMap()
	for i := range p.tasks {
		t := &p.tasks[i]
		task := Task{Millis: t.millis(maps), Bytes: t.bytes}
		if t.reduce {
			j.Reduces = append(j.Reduces, task)
		} else {
			j.Maps = append(j.Maps, task)
		}
	}
	estimatedMaps, ok := fillUnknown(j.Maps)
	if !ok || len(j.Maps) == 0 {
		h.empty++
		return j, false
	}
	estimatedReduces, ok := fillUnknown(j.Reduces)
	if !ok {
		for i := range j.Reduces {
			j.Reduces[i].Millis = mean(j.Maps)
		}
	}
	if estimatedMaps || estimatedReduces {
		h.unmatched++
	}
	if slices.ContainsFunc(p.tasks, func(t loggedTask) bool { return strings.Contains(t.id, "_s") }) {
		h.graphs++
	}
	return j, true
}

// lastMap is when the last map of the job was finished: until then no reduce
// had all its input.
func (p *loggedJob) lastMap() (last int64) {
	for _, t := range p.tasks {
		for _, a := range t.attempts {
			if !t.reduce && a.succeeded {
				last = max(last, a.finish)
			}
		}
	}
	return last
}

// millis is the time of the attempt that succeeded and of those that it went on
// from; for a reduce from when its input was there, or the last map finished
// when the log does not say.
func (t *loggedTask) millis(lastMap int64) int64 {
	sum, done := int64(0), false
	for _, a := range t.attempts {
		if !a.succeeded && !a.checkpointed || done || a.start == 0 || a.finish == 0 {
			continue
		}
		from := a.start
		if t.reduce {
			from = max(from, a.shuffledAt)
		}
		if t.reduce && a.shuffledAt == 0 {
			from = max(from, lastMap)
		}
		sum += max(0, a.finish-from)
		done = a.succeeded
	}
	if !done {
		return unknownMillis
	}
	return sum
}

// fillUnknown fills in what is unknown by the mean of what is known, and reports
// whether there was any, and whether there was something to go by.
func fillUnknown(tasks []Task) (any, ok bool) {
	known := slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return t.Millis == unknownMillis })
	if len(known) == len(tasks) {
		return false, true
	}
	if len(known) == 0 {
		return true, false
	}
	for i := range tasks {
		if tasks[i].Millis == unknownMillis {
			tasks[i].Millis = mean(known)
		}
	}
	return true, true
}

// mean is the mean time of tasks, of which there are some.
func mean(tasks []Task) int64 {
	return Sum(tasks).Millis / int64(len(tasks))
}

// priorityOf is the number of a priority's name, "" being normal.
func priorityOf(name string) (int, error) {
	switch strings.ToUpper(name) {
	case "VERY_HIGH":
		return 2, nil
	case "HIGH":
		return 1, nil
	case "", "NORMAL", "DEFAULT", "UNDEFINED_PRIORITY":
		return 0, nil
	case "LOW":
		return -1, nil
	case "VERY_LOW":
		return -2, nil
	}
	return 0, fmt.Errorf("priority %q, expected VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW", name)
}
