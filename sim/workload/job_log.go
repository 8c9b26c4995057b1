package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
)

// maxTime limits times in a log, in ms since the epoch.
const maxTime = 1 << 53

// loggedJob is a job in a log of any format.
type loggedJob struct {
	Job          // without its tasks; Submit is ms since the epoch
	finish int64 // ms since the epoch, 0 if unknown
	tasks  []loggedTask
}

// loggedTask is a task with all its attempts. Bytes are its input: of a map its split, of a
// reduce what it has shuffled.
type loggedTask struct {
	id       string
	reduce   bool
	bytes    int64
	attempts []loggedAttempt
}

// loggedAttempt is an attempt. Times are in ms since the epoch. Failed and killed attempts
// are kept, because they show when slots of the cluster were used.
type loggedAttempt struct {
	succeeded    bool
	checkpointed bool    // it was preempted, and another attempt resumed from it
	start        int64   // 0 if it never started
	shuffledAt   int64   // when a reduce had all its input, 0 if unknown
	finish       int64   // 0 if it never ended
	pauses       []int64 // when it was suspended and resumed, in turn
	machine      string
}

// unknownMillis marks a task without a successful attempt.
const unknownMillis = -1

// jobLog collects all jobs before it makes a workload, since logs are not sorted.
//
//	history, report, Rumen ─► addLogged ─► workload: sort, times of tasks, notes ─► Workload
type jobLog struct {
	*collector
	selected  Selection
	logged    []loggedLine
	unmatched int // jobs with tasks whose time is estimated
	empty     int // jobs without a finished map
	graphs    int // jobs of graphs with more stages than map and reduce
}

// loggedLine is a job with its place, for errors.
type loggedLine struct {
	source string
	line   int
	job    loggedJob
}

// newJobLog starts a log for a file or a directory.
func newJobLog(source string, o *Options) *jobLog {
	return &jobLog{collector: newCollector(source, o.MaxTasks), selected: o.Select}
}

// addLogged adds a job if it is selected, or errors about its times. Times are checked here, because
// differences of invalid ones would be meaningless tasks.
func (h *jobLog) addLogged(line int, j loggedJob) {
	if !h.selected.has(&j) {
		return
	}
	if j.Submit < 0 || j.Submit > maxTime {
		h.errorAt(line, "job %q: submitted at %d, expected ms since 1970", j.ID, j.Submit)
		return
	}
	for _, t := range j.tasks {
		for _, a := range t.attempts {
			if a.start < 0 || a.finish > maxTime || a.finish != 0 && a.finish < a.start {
				h.errorAt(line, "job %q: an attempt at task %q from %d to %d, expected ms since 1970, and an end after the start", j.ID, t.id, a.start, a.finish)
				return
			}
		}
	}
	h.logged = append(h.logged, loggedLine{h.source, line, j})
}

// sort sorts the jobs by submission. Jobs with the same submission keep the order of the log. It
// returns the errors of the log, and jobs that were selected and are missing.
func (h *jobLog) sort() error {
	if err := h.selected.check(h.logged); err != nil {
		return errors.Join(h.err(), fmt.Errorf("%s: %w", h.source, err))
	}
	slices.SortStableFunc(h.logged, func(a, b loggedLine) int { return cmp.Compare(a.job.Submit, b.job.Submit) })
	return nil
}

// workload makes the workload of all jobs, the first at 0.
func (h *jobLog) workload() (*Workload, error) {
	if err := h.sort(); err != nil {
		return nil, err
	}
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
	h.addNote(h.empty, "jobs left out, since none of their maps finished")
	h.addNote(h.unmatched, "jobs with unfinished tasks, which take the mean of the others")
	h.addNote(h.graphs, "jobs of graphs, whose stages run as maps and reduces")
	w, err := h.collector.workload()
	if err == nil {
		w.Observed = observedCluster(h.logged)
	}
	return w, err
}

// addNote notes a number of jobs, if there are any.
func (h *jobLog) addNote(n int, what string) {
	if n > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%s: %d", what, n))
	}
}

// withTaskTimes fills in the times of a job's tasks. It returns false for a job without a
// finished map. A job without a finished map gives no time for its maps at all, so it is
// left out and noted.
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
	// A task that never finished takes the mean of the other tasks of its phase; reduces of
	// which none has finished take that of the maps.
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

// lastMap returns the end of the job's last map. No reduce had all its input before.
func (j *loggedJob) lastMap() (last int64) {
	for _, t := range j.tasks {
		for _, a := range t.attempts {
			if !t.reduce && a.succeeded {
				last = max(last, a.finish)
			}
		}
	}
	return last
}

// millis returns the time of the successful attempt and of those that it resumed from. A
// reduce counts from when it had its input; if that is unknown, from the end of the last
// map.
//
//	attempt        0 ── checkpointed ── 1 ── failed ── 2 ── succeeded
//	counted        ████████████████                        ██████████
//
// The shuffle of a reduce is not part of its time: the simulator models it.
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

// fillUnknown sets unknown times to the mean of the known ones. any reports whether there
// were unknown ones, ok whether there was a known one. No tasks count as known.
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

// mean returns the mean time of tasks; there is at least one.
func mean(tasks []Task) int64 {
	return Sum(tasks).Millis / int64(len(tasks))
}

// priorityOf returns the number of a named priority; "" is normal. DEFAULT and
// UNDEFINED_PRIORITY are names in histories of newer versions of Hadoop.
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

// observedCluster derives machines and slots from the attempts of a log. It sweeps over the
// starts and ends of attempts on each machine. At equal times an end comes before a start,
// since a slot may be given on within one millisecond.
func observedCluster(past []loggedLine) (c ObservedCluster) {
	type change struct {
		at    int64
		begin int // 1 at the start of an attempt, -1 at its end
	}
	changes := make(map[string]*[2][]change) // by machine and kind
	for i := range past {
		for _, t := range past[i].job.tasks {
			kind := 0
			if t.reduce {
				kind = 1
			}
			for _, a := range t.attempts {
				if a.machine == "" {
					continue
				}
				if changes[a.machine] == nil {
					changes[a.machine] = new([2][]change)
				}
				if a.start != 0 && a.finish != 0 {
					of := &changes[a.machine][kind]
					*of = append(*of, change{a.start, 1}, change{a.finish, -1})
				}
			}
		}
	}
	c.Machines = len(changes)
	var most cluster.Slots
	for _, kinds := range changes {
		for kind, list := range kinds {
			slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.begin-b.begin) })
			now := 0
			for _, ch := range list {
				now += ch.begin
				most[kind] = max(most[kind], now)
			}
		}
	}
	c.MapSlots, c.ReduceSlots = most[cluster.MapSlot], most[cluster.ReduceSlot]
	return c
}
