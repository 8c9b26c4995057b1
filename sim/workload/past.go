package workload

import (
	"fmt"
	"slices"
	"strings"
)

// maxTime bounds the times of a log, ms since the epoch: beyond it they are no
// times.
const maxTime = 1 << 53

// pastJob is a job that a cluster has run, as a log of whatever form tells of
// it.
type pastJob struct {
	Job          // without its tasks; Submit is ms since the epoch
	finish int64 // ms since the epoch, 0 when the log does not say
	tasks  []pastTask
}

// pastTask is one task of it, with all attempts.
type pastTask struct {
	id       string
	reduce   bool
	bytes    int64
	attempts []pastAttempt
}

// pastAttempt is one try at a task. Times are ms since the epoch.
type pastAttempt struct {
	succeeded bool
	kept      bool  // it made room, and another attempt went on from where it was
	start     int64 // 0 when it never began
	shuffled  int64 // when a reduce had all its input, 0 when the log does not say
	finish    int64 // 0 when it never ended
	node      string
}

// unknownMillis marks a task that has no attempt which succeeded.
const unknownMillis = -1

// history gathers past jobs until all are known: logs have no order.
type history struct {
	*collector
	past      []pastLine
	unmatched int // jobs with tasks whose time is an estimate
	empty     int // jobs of which no map ever finished
	graphs    int // jobs with stages that are neither maps nor reduces
}

type pastLine struct {
	source string
	line   int
	job    pastJob
}

func newHistory(source string, o *Options) *history {
	return &history{collector: newCollector(source, o.MaxTasks)}
}

// note remembers a job, or tells what is wrong with its times.
func (h *history) note(line int, j pastJob) {
	if j.Submit < 0 || j.Submit > maxTime {
		h.fault(line, "job %q: submitted at %d, expected ms since 1970", j.ID, j.Submit)
		return
	}
	for _, t := range j.tasks {
		for _, a := range t.attempts {
			if a.start < 0 || a.finish > maxTime || a.finish != 0 && a.finish < a.start {
				h.fault(line, "job %q: an attempt at task %q from %d to %d, expected ms since 1970, and an end behind the start", j.ID, t.id, a.start, a.finish)
				return
			}
		}
	}
	h.past = append(h.past, pastLine{h.source, line, j})
}

// workload is the jobs in order of their submission, the first of them at 0.
// Jobs submitted together keep the order of the log.
func (h *history) workload() (*Workload, error) {
	slices.SortStableFunc(h.past, func(a, b pastLine) int {
		return int(min(max(a.job.Submit-b.job.Submit, -1), 1))
	})
	source, first := h.source, int64(-1)
	for _, p := range h.past {
		h.source = p.source
		j, ok := h.timed(p.job)
		if !ok || !h.room(p.line, int64(len(j.Maps)+len(j.Reduces))) {
			continue
		}
		if first < 0 {
			first = j.Submit
		}
		j.Submit -= first
		h.take(p.line, j)
	}
	h.source = source
	h.tell(h.empty, "jobs left out, as none of their maps ever finished")
	h.tell(h.unmatched, "jobs with tasks that never finished, which take the mean of the others")
	h.tell(h.graphs, "jobs with stages of a graph, which run as maps and reduces")
	w, err := h.collector.workload()
	if err == nil {
		w.Seen = seen(h.past)
	}
	return w, err
}

func (h *history) tell(n int, what string) {
	if n > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%s: %d", what, n))
	}
}

// timed is the job with the times that its tasks took. Without one map that
// finished there is nothing to go by.
func (h *history) timed(p pastJob) (Job, bool) {
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
	estimatedMaps, ok := estimate(j.Maps)
	if !ok || len(j.Maps) == 0 {
		h.empty++
		return j, false
	}
	estimatedReduces, ok := estimate(j.Reduces)
	if !ok {
		for i := range j.Reduces {
			j.Reduces[i].Millis = mean(j.Maps)
		}
	}
	if estimatedMaps || estimatedReduces {
		h.unmatched++
	}
	if slices.ContainsFunc(p.tasks, func(t pastTask) bool { return strings.Contains(t.id, "_s") }) {
		h.graphs++
	}
	return j, true
}

// lastMap is when the last map of the job was finished: until then no reduce
// had all its input.
func (p *pastJob) lastMap() (last int64) {
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
func (t *pastTask) millis(lastMap int64) int64 {
	sum, done := int64(0), false
	for _, a := range t.attempts {
		if !a.succeeded && !a.kept || done || a.start == 0 || a.finish == 0 {
			continue
		}
		from := a.start
		if t.reduce {
			from = max(from, a.shuffled)
		}
		if t.reduce && a.shuffled == 0 {
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

// estimate fills in what is unknown by the mean of what is known, and reports
// whether there was any, and whether there was something to go by.
func estimate(tasks []Task) (any, ok bool) {
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
