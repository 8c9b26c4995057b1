package fleet

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// outputs is what a machine has received of the log of outputs that reduces of a job read.
// The fake keeps only which maps have finished, and counts what a tasknode would keep.
type outputs struct {
	revision uint64
	bytes    int64            // of the messages that a tasknode would keep
	node     map[string]int32 // number of the map, by attempt
	fetched  []byte           // bit n%8 of byte n/8 is set if the output of map n is there
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
	added, revoked, err := taskproc.UnpackOutputs(o.Edge, o.Packed)
	if err != nil {
		m.fleet.ledger.violated("%s: list of outputs: %v", m.name, err)
		return
	}
	if o.Revision != 0 && o.Revision != w.revision {
		return
	}
	if o.Revision == 0 {
		*w = outputs{node: make(map[string]int32)}
	}
	m.fleet.counts.outputBytes.Add(int64(proto.Size(o)))
	w.revision, w.bytes = o.Next, w.bytes+int64(proto.Size(o))
	m.fleet.retainedBytes(w.bytes)
	for _, attempt := range revoked {
		if n, known := w.node[attempt]; known {
			w.fetched[n/8] &^= 1 << (n % 8)
			delete(w.node, attempt)
		}
	}
	for _, out := range added {
		w.node[out.Attempt] = out.Task
		if missing := int(out.Task/8) + 1 - len(w.fetched); missing > 0 {
			w.fetched = append(w.fetched, make([]byte, missing)...)
		}
		w.fetched[out.Task/8] |= 1 << (out.Task % 8)
	}
	if j.complete = o.Complete; j.complete {
		m.startWaiting(o.JobId)
	}
}

// newlyFetched returns what a reduce has fetched, if that has changed since its last report.
func (a *attempt) newlyFetched() []*taskproc.Fetched {
	w := &a.job.outputs
	if a.fetched == len(w.node) {
		return nil
	}
	a.fetched = len(w.node)
	return []*taskproc.Fetched{{Nodes: slices.Clone(w.fetched)}}
}
