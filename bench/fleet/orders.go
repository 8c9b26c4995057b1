package fleet

import (
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// execute executes an order, as tasknode.Daemon does.
func (m *machine) execute(o *wire.Order) {
	m.fleet.counts.orders.Add(1)
	now := time.Now()
	switch o := o.Order.(type) {
	case *wire.Order_Start:
		m.newAttempt(o.Start.Start)
	case *wire.Order_Kill:
		m.kill(o.Kill)
	case *wire.Order_Truncate:
		if a := m.attempts[o.Truncate.AttemptId]; a != nil {
			a.rangeEnd = o.Truncate.Position
		}
	case *wire.Order_Preempt:
		if a := m.attempts[o.Preempt.AttemptId]; a != nil {
			m.preempt(a, o.Preempt.Split)
		}
	case *wire.Order_Suspend:
		if a := m.attempts[o.Suspend.AttemptId]; a != nil {
			a.suspend(now)
		}
	case *wire.Order_Resume:
		if a := m.attempts[o.Resume.AttemptId]; a != nil {
			a.resume(now)
		}
	case *wire.Order_Outputs_:
		m.addOutputs(o.Outputs)
	case *wire.Order_RemoveJob_:
		m.removeJob(o.RemoveJob.JobId)
	case *wire.Order_Acknowledge_:
		delete(m.unacked, o.Acknowledge.AttemptId)
	case *wire.Order_CopyOutput_:
		m.copyOutput(o.CopyOutput)
	case *wire.Order_DropCopy_:
		delete(m.retained, o.DropCopy.AttemptId)
		delete(m.job(o.DropCopy.JobId).known, o.DropCopy.AttemptId)
	case *wire.Order_RequestProgress_:
		for _, a := range m.attempts {
			a.fetched = 0
		}
		m.pending.ResendAll()
		m.noteProgress(now)
		m.sendJoined(m.pending.Flush(now, false))
	case *wire.Order_RequestCounters_:
		for name, a := range m.attempts {
			if a.start.JobId == o.RequestCounters.JobId {
				m.pending.RequestCounters(name)
			}
		}
	case *wire.Order_ResendReport_:
		if r := m.retained[o.ResendReport.AttemptId]; r != nil {
			m.send(r)
		}
	}
}

// job returns the record of a job, and makes it if needed.
func (m *machine) job(id string) *job {
	j := m.jobs[id]
	if j == nil {
		j = &job{known: make(map[string]bool)}
		m.jobs[id] = j
	}
	return j
}

// kill ends an attempt at once. An attempt that is not here yet must not start later.
func (m *machine) kill(o *wire.Order_KillAttempt) {
	exited := &wire.Report{AttemptId: o.AttemptId, Report: &wire.Report_Exited_{Exited: new(wire.Report_Exited)}}
	if a := m.attempts[o.AttemptId]; a != nil {
		m.end(a, exited)
		m.fleet.ledger.killed(a.id)
		return
	}
	id, err := cluster.ParseAttemptID(o.AttemptId)
	if j := m.job(id.Task.Job.String()); err == nil && !j.known[o.AttemptId] {
		j.known[o.AttemptId], m.unacked[o.AttemptId] = true, exited
		m.send(exited)
	}
}

// startWaiting starts the reduces of a job that have waited for its maps.
func (m *machine) startWaiting(id string) {
	for _, a := range m.attempts {
		if a.waits && a.start.JobId == id {
			a.run(time.Now())
		}
	}
}

// removeJob forgets a job. Attempts that still run end as killed.
func (m *machine) removeJob(id string) {
	for name, a := range m.attempts {
		if a.start.JobId == id {
			delete(m.attempts, name)
			m.pending.Drop(name)
		}
	}
	for name := range m.job(id).known {
		delete(m.retained, name)
	}
	delete(m.jobs, id)
	m.fleet.logs.remove(id)
}

// copyOutput answers with a copy of the output at once.
func (m *machine) copyOutput(o *wire.Order_CopyOutput) {
	copied := &wire.Report_OutputCopied{}
	for _, out := range o.Finished.GetOutputs() {
		copied.Outputs = append(copied.Outputs, &taskproc.MapOutput{
			Task: out.Task, Attempt: out.Attempt, Path: pathOf(o.JobId, o.AttemptId), IndexChecksum: out.IndexChecksum, Edge: out.Edge,
		})
	}
	m.job(o.JobId).known[o.AttemptId] = true
	m.retained[o.AttemptId] = &wire.Report{AttemptId: o.AttemptId, Report: &wire.Report_Finished{Finished: o.Finished}}
	m.send(&wire.Report{AttemptId: o.AttemptId, Report: &wire.Report_OutputCopied_{OutputCopied: copied}})
}

// outputs is what a machine has received of the log of outputs that reduces of a job read.
// The fake keeps only which maps have finished, and counts what a tasknode would keep.
type outputs struct {
	revision uint64
	bytes    int64  // of the messages that a tasknode would keep
	fetched  []byte // bit n%8 of byte n/8 is set if the output of map n is there
}

// decodedLogs are the logs of outputs of all jobs, decoded once for all machines: a thousand machines
// that decode the same log in one process would take more CPU time than the masters.
type decodedLogs struct {
	mu struct {
		sync.Mutex
		jobs map[string]*decodedLog
	}
}

type decodedLog struct {
	nodes map[string]int32 // number of the map, by attempt
	parts map[partKey]*part
}

type partKey struct {
	edge int32
	hash uint64 // of the packed part
}

// part has the numbers of the maps whose outputs a part of the log adds and revokes.
type part struct{ added, revoked []int32 }

// decode returns a part of the log of a job.
func (d *decodedLogs) decode(o *wire.Order_Outputs) (*part, error) {
	key := partKey{o.Edge, xxhash.Sum64(o.Packed)}
	d.mu.Lock()
	defer d.mu.Unlock()
	log := d.mu.jobs[o.JobId]
	if log == nil {
		log = &decodedLog{nodes: make(map[string]int32), parts: make(map[partKey]*part)}
		if d.mu.jobs == nil {
			d.mu.jobs = make(map[string]*decodedLog)
		}
		d.mu.jobs[o.JobId] = log
	}
	if p := log.parts[key]; p != nil {
		return p, nil
	}
	added, revoked, err := taskproc.UnpackOutputs(o.Edge, o.Packed)
	if err != nil {
		return nil, err
	}
	p := new(part)
	for _, out := range added {
		log.nodes[out.Attempt] = out.Task
		p.added = append(p.added, out.Task)
	}
	for _, attempt := range revoked {
		if n, known := log.nodes[attempt]; known {
			p.revoked = append(p.revoked, n)
		}
	}
	log.parts[key] = p
	return p, nil
}

// remove forgets the log of a job.
func (d *decodedLogs) remove(job string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.mu.jobs, job)
}

// mapOutputs describes the output of a map of a job with reduces.
func (a *attempt) mapOutputs() []*taskproc.MapOutput {
	if a.start.Reduces == 0 {
		return nil
	}
	return []*taskproc.MapOutput{{
		Task: a.start.Task, Attempt: a.start.AttemptId, Path: pathOf(a.start.JobId, a.start.AttemptId), IndexChecksum: 1, Bytes: outputBytes,
	}}
}

// addOutputs adds a part of the log, by the rules of tasknode.Daemon: revision 0 starts over,
// a part that does not continue the log is ignored. Reduces that wait start when all maps
// have finished.
func (m *machine) addOutputs(o *wire.Order_Outputs) {
	j := m.job(o.JobId)
	w := &j.outputs
	p, err := m.fleet.logs.decode(o)
	if err != nil {
		m.fleet.ledger.violated("%s: list of outputs: %v", m.name, err)
		return
	}
	if o.Revision != 0 && o.Revision != w.revision {
		return
	}
	if o.Revision == 0 {
		*w = outputs{}
	}
	m.fleet.counts.outputBytes.Add(int64(proto.Size(o)))
	w.revision, w.bytes = o.Next, w.bytes+int64(proto.Size(o))
	m.fleet.retainedBytes(w.bytes)
	for _, n := range p.revoked {
		if int(n/8) < len(w.fetched) {
			w.fetched[n/8] &^= 1 << (n % 8)
		}
	}
	for _, n := range p.added {
		if missing := int(n/8) + 1 - len(w.fetched); missing > 0 {
			w.fetched = append(w.fetched, make([]byte, missing)...)
		}
		w.fetched[n/8] |= 1 << (n % 8)
	}
	if j.complete = o.Complete; j.complete {
		m.startWaiting(o.JobId)
	}
}

// newlyFetched returns what a reduce has fetched, if that has changed since its last report.
func (a *attempt) newlyFetched() []*taskproc.Fetched {
	w := &a.job.outputs
	if a.fetched == w.revision {
		return nil
	}
	a.fetched = w.revision
	return []*taskproc.Fetched{{Nodes: slices.Clone(w.fetched)}}
}
