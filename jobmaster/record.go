package jobmaster

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"google.golang.org/protobuf/proto"
)

// record is what the leader knows about a job in addition to the state. It is made when it
// is first needed and removed when the job is retired. Only the loop uses it. Goroutines may
// share messages in it, so messages are replaced and never changed.
type record struct {
	spec    *wire.JobSpec
	splits  []*taskproc.Split // nil until loaded
	bytes   int64             // sum over all splits
	files   int               // number of input files
	inputs  []history.Input   // what the splits of a job that is over read, by number, for its history; nil if unknown
	outputs outputLogs

	progress         map[cluster.AttemptID]*taskproc.Progress // of running attempts
	fractions        map[string]float64                       // by code of the stage: sum of the fractions in progress
	countersAskedAt  time.Time                                // when the counters of running attempts were last requested
	awaitingProgress map[cluster.AttemptID]bool               // attempts that ran when this leader first saw the job and have not reported since

	shuffleDone map[cluster.AttemptID]int64 // when reduces were known to have all their input, ms since the epoch; only times that this leader knows

	waits waits // of the job in this lead

	version  uint64 // starts at 1; increases with each change that the status shows
	stale    bool   // the job or its attempts have changed, but version has not increased yet
	watchers []*watchRequest
	answered uint64           // the version that all watchers have; 0 if a watcher has just asked
	checkAt  time.Time        // when to look for watchers that have stopped waiting, even if the version is the same
	last     *versionedStatus // of a job that is over, once a watcher has asked for it

	startedWork control.WorkKind   // the latest work that was started
	cancel      context.CancelFunc // cancels the latest work; nil before the first work
	done        chan struct{}      // closed when the latest work has ended; nil before the first work
	outage      outage             // why the latest work waits; zero if it does not wait
}

// record returns the record of a job in the state and makes it if needed.
//
// It parses the client's submission, which the log keeps complete. The start message of a
// task takes the program, the properties and the graph from it.
func (m *Master) record(id cluster.JobID) *record {
	r := m.records[id]
	if r == nil {
		r = newRecord(m.view.Job(id))
		m.records[id] = r
	}
	return r
}

func newRecord(j *cluster.Job) *record {
	r := &record{version: 1, spec: new(wire.JobSpec), progress: make(map[cluster.AttemptID]*taskproc.Progress), fractions: make(map[string]float64), shuffleDone: make(map[cluster.AttemptID]int64)}
	r.awaitingProgress = running(j)
	if err := proto.Unmarshal(j.Spec.Document, r.spec); err != nil {
		panic(fmt.Sprintf("jobmaster: document of %v, which was checked at submission: %v", j.ID, err))
	}
	return r
}

// running returns the running attempts of a job.
func running(j *cluster.Job) map[cluster.AttemptID]bool {
	ids := make(map[cluster.AttemptID]bool)
	for _, s := range j.Stages {
		if s.Running == 0 {
			continue
		}
		for _, a := range s.Attempts() {
			if a.Active() {
				ids[a.ID] = true
			}
		}
	}
	return ids
}

// setProgress replaces the progress of a running attempt; nil removes it.
func (r *record) setProgress(id cluster.AttemptID, p *taskproc.Progress) {
	change := fractionOf(p) - fractionOf(r.progress[id])
	if r.fractions[id.Task.Stage] += change; p != nil {
		r.progress[id] = p
		return
	}
	if delete(r.progress, id); len(r.progress) == 0 {
		clear(r.fractions) // so that no rounding errors add up
	}
}

// fractionOf returns the fraction of an attempt's work that is done, 0 if it is unknown or
// not a number.
func fractionOf(p *taskproc.Progress) float64 {
	if f := p.GetFraction(); f > 0 {
		return min(f, 1)
	}
	return 0
}

// touch records that the status has changed, so that watchers get the new status.
func (r *record) touch() {
	r.version++
	r.stale = false
}

// partBytes sums up the bytes of a split's parts.
func partBytes(s *taskproc.Split) (n int64) {
	for _, p := range s.Parts {
		n += p.Length
	}
	return n
}
