package jobmaster

import (
	"cmp"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// The functions below convert messages into values of the core and back.

// splitOf returns the data of a split that the state needs. Its range starts where its first
// part starts, and is as long as all parts together.
func splitOf(s *taskproc.Split) cluster.Split {
	out := cluster.Split{Hosts: s.Hosts, Bytes: partBytes(s), Whole: s.Unsplittable}
	if len(s.Parts) > 0 {
		start := s.Parts[0].Start
		out.Range = dag.Range{Start: dag.Position{Offset: start}, End: dag.Position{Offset: start + out.Bytes}}
		out.Ordinal = int(s.Parts[0].Ordinal)
	}
	return out
}

// fetchedOf returns, for each edge of the job's graph, the Nodes whose outputs a reader has
// fetched. Nodes is a bit set. The task determines the number of messages and their lengths:
// the last message of an edge counts, and bits without a Node are dropped.
func fetchedOf(j *cluster.Job, messages []*taskproc.Fetched) (fetched []control.EdgeFetched) {
	if len(messages) == 0 {
		return nil
	}
	nodes := 0
	for _, s := range j.Stages {
		nodes += len(s.Tasks)
	}
	for _, s := range j.Spec.Graph.Stages {
		nodes += s.Nodes
	}
	place := make(map[int32]int, len(j.Spec.Graph.Edges))
	for _, f := range messages {
		if f.Edge < 0 || int(f.Edge) >= len(j.Spec.Graph.Edges) {
			continue
		}
		i, known := place[f.Edge]
		if !known {
			i, place[f.Edge] = len(fetched), len(fetched)
			fetched = append(fetched, control.EdgeFetched{})
		}
		fetched[i] = control.EdgeFetched{Edge: int(f.Edge), Nodes: f.Nodes[:min(len(f.Nodes), nodes/8+1)]}
	}
	return fetched
}

// manifestOf returns what an attempt has written, in the form that the log keeps. It leaves
// out the bytes of each partition, because they would make the entry large. keepReported
// keeps them outside the log.
func manifestOf(d *taskproc.Finished) cluster.Manifest {
	out := cluster.Manifest{Bytes: d.OutputBytes, Records: d.OutputRecords}
	for _, o := range d.Outputs {
		s := cluster.Segments{Edge: int(o.Edge), Node: int(o.Task), Path: o.Path, IndexChecksum: o.IndexChecksum, Emitted: o.Emitted, Cuts: o.Cuts}
		out.Segments = append(out.Segments, s)
	}
	for _, p := range d.Pieces {
		out.Pieces = append(out.Pieces, cluster.Piece{
			Output: p.Output, Path: p.Path, Length: p.Length, Checksum: p.Checksum, Records: p.Records, Suffix: p.Suffix,
			Stage: int(p.Stage), Part: int(p.Part),
		})
	}
	return out
}

// countersOf returns counters in the order in which they were reported.
func countersOf(counters []*taskproc.Counter) []cluster.Counter {
	out := make([]cluster.Counter, len(counters))
	for i, c := range counters {
		out[i] = cluster.Counter{CounterName: cluster.CounterName{Group: c.Group, Name: c.Name}, Value: c.Value}
	}
	return out
}

// maxFailureText bounds each text of a failure, because it goes into the log.
const maxFailureText = 16 << 10 // bytes

// failureOf returns a failure in the form that the log keeps. Its texts are bounded, because
// the task determines how much it prints. They are valid UTF-8, because messages carry
// nothing else. It keeps the end of the attempt's log, since a program prints its last error
// there.
func failureOf(f *taskproc.Failure) cluster.Failure {
	out := cluster.Failure{
		Cause: cmp.Or(truncateText(f.Cause), "the task reported a failure without a cause"), Stack: truncateText(f.Stack), Input: truncateText(f.Input), Offset: f.Offset, Fatal: f.Fatal,
		Log: strings.ToValidUTF8(f.Log[max(0, len(f.Log)-maxFailureText):], ""),
	}
	if f.Record != nil {
		record := taskproc.ToPosition(f.Record)
		out.Record = &record
	}
	return out
}

// truncateText bounds a text. It removes a rune that the cut would divide.
func truncateText(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxFailureText)], "")
}

// checkpointOf returns a checkpoint in the form that the log keeps; the zero value for nil.
// A Copy is on a shared file system, so it is not lost with the machine.
func checkpointOf(c *taskproc.Checkpoint) cluster.Checkpoint {
	out := cluster.Checkpoint{Path: c.GetPath(), Bytes: c.GetBytes(), Checksum: c.GetChecksum()}
	if c.GetCopy() != nil {
		out.Copy = &cluster.CheckpointCopy{Path: c.Copy.Path, Bytes: c.Copy.Bytes, Checksum: c.Copy.Checksum}
	}
	return out
}

// checkpointMessage describes the checkpoint from which a task resumes, for an attempt on
// the given machine. address is the address of the machine that has the files.
func checkpointMessage(id cluster.TaskID, c *cluster.Checkpoint, machine, address string) *taskproc.Checkpoint {
	if c == nil {
		return nil
	}
	out := &taskproc.Checkpoint{
		Path: c.Path, Bytes: c.Bytes, Checksum: c.Checksum, Attempt: c.Attempt.String(),
		JobId: id.Job.String(), Task: int32(id.Number), MachineLost: c.Machine == "",
	}
	if c.Machine != machine {
		out.Address = address
	}
	if c.Copy != nil {
		out.Copy = &taskproc.Checkpoint_Copy{Path: c.Copy.Path, Bytes: c.Copy.Bytes, Checksum: c.Copy.Checksum}
	}
	return out
}
