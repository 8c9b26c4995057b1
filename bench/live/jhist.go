package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

// hadoopJob is the content of the history of one of Hadoop's jobs. It has what a
// sim.JobResult needs. Times are ms since the epoch, 0 for events that never happened.
type hadoopJob struct {
	submit, finish                                 int64
	mapStart, mapFinish, reduceStart, reduceFinish int64
	maps, reduces, localMaps                       int
}

// historyLine is one event. Avro wraps it in the name of its type. Times in events are ms
// since the epoch.
type historyLine struct {
	Type  string
	Event map[string]hadoopEvent
}

// hadoopEvent has the fields that are read from events of all kinds. One structure is
// enough, because names of fields are the same in all events.
type hadoopEvent struct {
	SubmitTime, StartTime, FinishTime int64
	FinishedMaps, FinishedReduces     int
	TotalCounters                     struct {
		Groups []struct {
			Counts []struct {
				Name  string
				Value int64
			}
		}
	}
}

// longestEvent bounds a line of a history. The event with a job's counters has some KiB.
const longestEvent = 16 << 20

// readHadoop reads the history that a master of Hadoop's MapReduce has written in Avro's
// JSON. It fails for a job that has not succeeded.
//
//	Avro-Json
//	{"type":"record","name":"Event",…}
//	{"type":"JOB_SUBMITTED","event":{"….JobSubmitted":{"submitTime":…}}}
//	{"type":"MAP_ATTEMPT_FINISHED","event":{"….MapAttemptFinished":{"finishTime":…}}}
func readHadoop(r io.Reader) (*hadoopJob, error) {
	job := new(hadoopJob)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestEvent)
	for n := 1; lines.Scan(); n++ {
		if n <= 2 || len(lines.Bytes()) == 0 { // the format and its schema
			continue
		}
		var line historyLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		for _, e := range line.Event {
			job.add(line.Type, e)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if job.finish == 0 {
		return nil, errors.New("it has no JOB_FINISHED: the job has not succeeded")
	}
	return job, nil
}

// add adds an event. Other events are ignored.
func (h *hadoopJob) add(kind string, e hadoopEvent) {
	switch kind {
	case "JOB_SUBMITTED":
		h.submit = e.SubmitTime
	case "MAP_ATTEMPT_STARTED":
		h.mapStart = earliest(h.mapStart, e.StartTime)
	case "REDUCE_ATTEMPT_STARTED":
		h.reduceStart = earliest(h.reduceStart, e.StartTime)
	case "MAP_ATTEMPT_FINISHED":
		h.mapFinish = max(h.mapFinish, e.FinishTime)
	case "REDUCE_ATTEMPT_FINISHED":
		h.reduceFinish = max(h.reduceFinish, e.FinishTime)
	case "JOB_FINISHED":
		h.finish, h.maps, h.reduces = e.FinishTime, e.FinishedMaps, e.FinishedReduces
		for _, g := range e.TotalCounters.Groups {
			for _, c := range g.Counts {
				if c.Name == "DATA_LOCAL_MAPS" {
					h.localMaps = int(c.Value)
				}
			}
		}
	}
}

// earliest returns the earlier of two times; 0 stands for no time. Attempts may start in any
// order in the file.
func earliest(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// outcome returns what a simulator would report, in the time of the workload.
func (h *hadoopJob) outcome(j blockReadingJob) *paper.Outcome {
	at := func(ms int64) int64 {
		if ms == 0 {
			return -1
		}
		return j.Submit + int64(float64(ms-h.submit)*j.speedup)
	}
	return &paper.Outcome{End: at(h.finish), Jobs: []sim.JobResult{{
		ID: j.ID, Pool: j.Pool, Class: j.Class, State: cluster.JobSucceeded,
		Submit: at(h.submit), Start: at(h.mapStart), Finish: at(h.finish), Maps: h.maps, Reduces: h.reduces, LocalMaps: h.localMaps,
		MapStart: at(h.mapStart), MapFinish: at(h.mapFinish), ReduceStart: at(h.reduceStart), ReduceFinish: at(h.reduceFinish),
	}}}
}
