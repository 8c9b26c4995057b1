package tasknode

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// job is the daemon's record of a job. It exists from the first order or file of the job
// until RemoveJob. If the job has activities then, it exists until the last one has ended.
// Then its local files are removed, and its logs are copied before:
//
//	activities ── RemoveJob, and the last has ended ──► removingFiles: all but the logs
//	                                                         │
//	                     removingLogs ◄── aggregatingLogs ◄──┤ it has logs
//	                          │                              │ it has none
//	                          └─────────► forgotten ◄────────┘
type job struct {
	reads     map[int32][]int32      // files that a class of NodeGroup reads, by their places in the graph's edges
	outputs   map[int32]*edgeOutputs // outputs of an edge, by its place in the graph's edges
	diskLimit int64                  // bytes that the job may occupy in all local directories; 0 for no limit
	usage     map[string]usage       // what it occupied in each local directory when it was measured; only if diskLimit > 0
	logDir    string                 // full name of the directory for the logs of the job, "" if they are not copied
	logs      []string               // local directories with its logs; valid after removingFiles
	busy      int                    // number of attempts that run or have files being read, copied or removed; and of activities of removal
	removed   bool                   // the job is over: its files are removed after its last activity, and no other begins
	removal   removal                // active only if removed
}

// removal is how far the removal of a job's local files has come. Its values are in the
// order in which a job has them.
type removal int

const (
	active          removal = iota // attempts run, or files are in use
	removingFiles                  // everything but the logs is being removed, in each directory
	aggregatingLogs                // the logs are being copied
	removingLogs                   // the logs and all else are being removed, in each directory
)

// edgeOutputs are the outputs that finished tasks have written for a file edge.
type edgeOutputs struct {
	log      taskproc.OutputLog // the same outputs as in the master's log; the entries have other numbers
	revision uint64             // number of entries of the master's log that log includes
	replaced map[string]bool    // attempts whose outputs readers may know from an earlier log, while the first parts of another have come; nil otherwise

	unconfirmed bool // the masters were restored since log came: readers may know outputs that the next complete log lacks
}

// job returns the record of a job, and makes it if needed.
func (d *Daemon) job(id string) *job {
	j := d.jobs[id]
	if j == nil {
		j = &job{reads: make(map[int32][]int32), outputs: make(map[int32]*edgeOutputs)}
		d.jobs[id] = j
	}
	return j
}

// addKnown adds an attempt of a job to the known ones.
func (d *Daemon) addKnown(job, attempt string) {
	if _, known := d.known[attempt]; !known {
		d.knownOf[job] = append(d.knownOf[job], attempt)
	}
	d.known[attempt] = job
}

// readsOf returns the edges that the group of a Start reads as files. The layout of a job's
// graph is computed once for each class of groups, not for each attempt.
func (j *job) readsOf(start *taskproc.Start) []int32 {
	if start.Graph == nil {
		return taskproc.FileInputs(start)
	}
	reads, known := j.reads[start.GroupClass]
	if !known {
		reads = taskproc.FileInputs(start)
		j.reads[start.GroupClass] = reads
	}
	return reads
}

// outputsOf returns the outputs of an edge.
func (j *job) outputsOf(edge int32) *edgeOutputs {
	w := j.outputs[edge]
	if w == nil {
		w = new(edgeOutputs)
		j.outputs[edge] = w
	}
	return w
}

// addOutputs adds a part of the log of an edge, and sends it to the attempts that read
// the edge.
//
// Each part of the log has a revision, which is the number of entries before the part:
//
//	revision 0         replaces what is known: a new master, or a new subscription
//	revision = known   continues
//	anything else      was added before, or comes from a master that does not lead
//
// If a log is sent from its beginning and lacks an output that was known, the output was
// lost in the meantime. Readers get it as revoked after the last part of the log.
func (d *Daemon) addOutputs(o *wire.Order_Outputs) {
	w := d.job(o.JobId).outputsOf(o.Edge)
	outputs, revoked, err := taskproc.UnpackOutputs(o.Edge, o.Packed)
	switch {
	case err != nil:
		d.cfg.Logger.Error("unusable list of outputs from the jobmaster", "job", o.JobId, "error", err)
		return
	case o.Revision == 0:
		w.startOver()
	case o.Revision != w.revision:
		return // entries that were added before
	}
	w.revision = o.Next
	w.log.Revoke(revoked)
	for _, out := range outputs {
		w.log.Add(out)
	}
	w.log.Complete = o.Complete
	news := &taskproc.Outputs{Edge: o.Edge, Packed: o.Packed, Complete: o.Complete}
	if o.Next >= o.Length {
		news.Revoked = w.missing()
		if w.unconfirmed && len(news.Revoked) > 0 {
			d.endReaders(o.JobId, o.Edge, news.Revoked)
		}
		w.unconfirmed = false
	}
	d.sendToReaders(o.JobId, news)
}

// sendToReaders sends outputs to the attempts that read their edge.
func (d *Daemon) sendToReaders(job string, news *taskproc.Outputs) {
	message := outputsMessage(news)
	for _, a := range d.attempts {
		if a.start.JobId == job && slices.Contains(a.reads, news.Edge) {
			a.inbox.Put(message)
		}
	}
}

// startOver begins another log, and remembers what readers know from the log before.
func (w *edgeOutputs) startOver() {
	if w.replaced == nil {
		w.replaced = make(map[string]bool)
	}
	for o := range w.log.Outputs() {
		w.replaced[o.Attempt] = true
	}
	w.log = taskproc.OutputLog{}
}

// missing returns the attempts whose outputs an earlier log had and the complete present log
// has not.
func (w *edgeOutputs) missing() []string {
	if len(w.replaced) == 0 {
		return nil // the usual case must not cost a walk over the log
	}
	for o := range w.log.Outputs() {
		delete(w.replaced, o.Attempt)
	}
	attempts := slices.Sorted(maps.Keys(w.replaced))
	w.replaced = nil
	return attempts
}

// sendKnownOutputs sends an attempt the known outputs of the edges that it reads.
func (j *job) sendKnownOutputs(a *attempt) {
	for _, edge := range a.reads {
		w := j.outputsOf(edge)
		for _, part := range w.log.Since(0) {
			a.inbox.Put(outputsMessage(&taskproc.Outputs{Edge: edge, Packed: part.Packed, Complete: part.Complete}))
		}
	}
}

// outputsMessage returns a message with outputs for a task.
func outputsMessage(o *taskproc.Outputs) *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: o}}
}
