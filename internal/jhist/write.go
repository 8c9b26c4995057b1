package jhist

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// Write writes the events of a finished job. The status must have its tasks.
func Write(to io.Writer, s *wire.JobStatus) error {
	if !s.State.Final() {
		return fmt.Errorf("jhist: job %s is not over", s.JobId)
	}
	text, err := schema()
	if err != nil {
		return err
	}
	w := &writer{out: bufio.NewWriter(to), s: s, numbers: make(map[string]int), maps: make(counter.Values), reduces: make(counter.Values)}
	_, _ = fmt.Fprintf(w.out, "Avro-Json\n%s\n", text) // Flush reports errors
	w.begin()
	for _, t := range s.Tasks {
		w.task(t)
	}
	w.end()
	return cmp.Or(w.err, w.out.Flush())
}

// writer writes the events of a job.
type writer struct {
	out           *bufio.Writer
	s             *wire.JobStatus
	numbers       map[string]int // tasks so far, by m and r
	containers    int            // attempts so far
	maps, reduces counter.Values // of the tasks so far
	failed        [2]int32       // tasks, of maps and reduces
	killed        [2]int32
	err           error // the first
}

// event writes an event: its type, and its record under its full name.
func (w *writer) event(kind string, record any) {
	text, err := json.Marshal(map[string]any{"type": kind, "event": map[string]any{namespace + "." + recordName(reflect.TypeOf(record)): record}})
	w.err = cmp.Or(w.err, err)
	_, _ = w.out.Write(append(text, '\n'))
}

// id returns the id of a part of the job: its kind, the number of cluster and job, and the rest.
func (w *writer) id(kind, rest string) string {
	return kind + strings.TrimPrefix(w.s.JobId, "job") + rest
}

// container returns the id of the next container. The first is that of the application master.
func (w *writer) container() string {
	w.containers++
	return w.id("container", fmt.Sprintf("_01_%06d", w.containers))
}

// confName returns the name of the file with the properties.
func confName(s *wire.JobStatus) string { return s.JobId + "_conf.xml" }

func (w *writer) begin() {
	s := w.s
	w.event("AM_STARTED", aMStarted{w.id("appattempt", "_000001"), s.SubmitTime, w.container(), cmp.Or(s.SubmitHost, "localhost"), 0, 0})
	w.event("JOB_SUBMITTED", jobSubmitted{s.JobId, s.Name, s.User, s.SubmitTime, confName(s), map[string]string{}, s.Queue})
	w.event("JOB_PRIORITY_CHANGED", jobPriorityChange{s.JobId, cmp.Or(s.Priority, "NORMAL")})
	w.event("JOB_INITED", jobInited{s.JobId, s.StartTime, s.Maps, s.Reduces, "INITED", false})
	w.event("JOB_INFO_CHANGED", jobInfoChange{s.JobId, s.SubmitTime, s.StartTime})
}

func (w *writer) end() {
	s := w.s
	if s.State == wire.JobState_SUCCEEDED {
		w.event("JOB_FINISHED", jobFinished{
			s.JobId, s.FinishTime, s.MapsDone, s.ReducesDone, w.failed[0], w.failed[1],
			countersOf("TOTAL_COUNTERS", report.Counters(s)), countersOf("MAP_COUNTERS", w.maps), countersOf("REDUCE_COUNTERS", w.reduces), w.killed[0], w.killed[1],
		})
		return
	}
	w.event("JOB_"+s.State.String(), jobUnsuccessfulCompletion{
		s.JobId, s.FinishTime, s.MapsDone, s.ReducesDone, s.State.String(), optional(s.Cause), w.failed[0], w.failed[1], w.killed[0], w.killed[1],
	})
}

// task writes the events of a task and of its attempts.
func (w *writer) task(t *wire.TaskStatus) {
	kind, code, sums, place := "MAP", "m", w.maps, 0
	if t.Kind == taskproc.Kind_REDUCE {
		kind, code, sums, place = "REDUCE", "r", w.reduces, 1
	}
	rest := fmt.Sprintf("_%s_%06d", code, w.numbers[code])
	w.numbers[code]++
	id, started, winner, finished := w.id("task", rest), w.s.StartTime, "", int64(0)
	if len(t.Attempts) > 0 {
		started = t.Attempts[0].StartTime
	}
	w.event("TASK_STARTED", taskStarted{id, kind, started, ""})
	values := make(counter.Values)
	for i, n := range t.Counts[:min(len(t.Counts), len(w.s.CounterNames))] {
		c := counter.ID{Group: w.s.CounterNames[i].Group, Name: w.s.CounterNames[i].Name}
		values.Add(c, n)
		sums.Add(c, n)
	}
	counts := countersOf("COUNTERS", values)
	for _, a := range t.Attempts {
		attempt := w.id("attempt", rest+a.Id[strings.LastIndexByte(a.Id, '_'):])
		end := cmp.Or(a.FinishTime, w.s.FinishTime)
		finished = max(finished, end)
		w.event(kind+"_ATTEMPT_STARTED", taskAttemptStarted{id, kind, attempt, a.StartTime, a.Machine, 0, 0, w.container()})
		if a.State != wire.AttemptState_ATTEMPT_SUCCEEDED {
			status := "KILLED"
			if a.State == wire.AttemptState_ATTEMPT_FAILED {
				status = "FAILED"
			}
			w.event(kind+"_ATTEMPT_"+status, taskAttemptUnsuccessfulCompletion{id, kind, attempt, end, a.Machine, 0, "/default-rack", status, a.Cause, noSamples})
			continue
		}
		winner = attempt
		if kind == "MAP" {
			w.event("MAP_ATTEMPT_FINISHED", mapAttemptFinished{id, attempt, kind, "SUCCEEDED", end, end, a.Machine, 0, "/default-rack", "", counts, noSamples})
			continue
		}
		shuffled := cmp.Or(a.ShuffleFinishTime, a.StartTime)
		w.event("REDUCE_ATTEMPT_FINISHED", reduceAttemptFinished{id, attempt, kind, "SUCCEEDED", shuffled, shuffled, end, a.Machine, 0, "/default-rack", "", counts, noSamples})
	}
	switch t.State {
	case wire.TaskState_TASK_SUCCEEDED:
		w.event("TASK_FINISHED", taskFinished{id, kind, finished, "SUCCEEDED", counts, optional(winner)})
	case wire.TaskState_TASK_FAILED:
		w.failed[place]++
		w.event("TASK_FAILED", taskFailed{id, kind, cmp.Or(finished, w.s.FinishTime), "", "", "FAILED"})
	default: // the job has ended before it
		w.killed[place]++
		w.event("TASK_FAILED", taskFailed{id, kind, cmp.Or(finished, w.s.FinishTime), "", "", "KILLED"})
	}
}

// countersOf describes counters, by Hadoop's names and those that users see.
func countersOf(name string, v counter.Values) jhCounters {
	all := jhCounters{Name: name, Groups: []jhCounterGroup{}}
	for _, group := range v.Groups() {
		places := make(map[string]int) // in all.Groups, by name
		for _, shown := range v.Names(group) {
			id := counter.ID{Group: group, Name: shown}
			in, is := id.HadoopName()
			if _, known := places[in]; !known {
				places[in] = len(all.Groups)
				all.Groups = append(all.Groups, jhCounterGroup{Name: in, DisplayName: group})
			}
			g := &all.Groups[places[in]]
			g.Counts = append(g.Counts, jhCounter{is, shown, v.Get(id)})
		}
	}
	return all
}
