package task

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// openCollector writes what a Node emits along an edge that is a file. The program makes the
// collector, since only it knows the types; the Node finishes it.
type openCollector struct {
	shuffle.Collector       // nil until it is set
	memory            int64 // bytes of memory borrowed for the collector
}

// Abort has no effect on a finished collector.
func (c *openCollector) Abort() error {
	if c.Collector == nil {
		return nil
	}
	return c.Collector.Abort()
}

// CollectorOptions returns the options of the collector of an edge that is a file; the
// caller sets partition and combine. An all-to-all edge has a partition for each reader,
// others have one. The memory is borrowed once per edge, however often it is called.
func (n *NodeRun) CollectorOptions(c Channel) (shuffle.Options, error) {
	if err := n.checkOutput(c); err != nil {
		return shuffle.Options{}, err
	}
	open := n.collectors[c.Edge]
	if open == nil {
		open = &openCollector{memory: n.group.memory.borrow(1)}
		n.collectors[c.Edge] = open
	}
	codec, err := mapOutputCodec(n.Attempt.Conf)
	return shuffle.Options{
		FS:           n.Attempt.Local,
		Path:         n.Attempt.LocalFile(fmt.Sprintf("edge%d-node%d.out", c.Edge, n.number)),
		Partitions:   n.group.partitions(c),
		Memory:       open.memory,
		Budget:       n.group.server.budget.budgetOf(n.Attempt.Conf, n.group.server.Memory),
		SpillPercent: n.Attempt.Conf.Float(conf.SpillPercent),
		BeforeSpill:  func() error { return failpoint.Hit(failpoint.TaskSpill) },
		Factor:       n.Attempt.Conf.Int(conf.SortFactor),
		MaxRuns:      n.maxRuns(c),
		Codec:        codec,
		Poison:       n.Poisoned(),
	}, err
}

// SetCollector sets the collector of an edge. The Node finishes or aborts it.
func (n *NodeRun) SetCollector(c Channel, collector shuffle.Collector) {
	open := n.collectors[c.Edge]
	if open == nil {
		open = new(openCollector)
		n.collectors[c.Edge] = open
	}
	open.Collector = collector
}

// inCollectors returns the bytes in the collectors. Only the goroutine that fills them
// may call it.
func (n *NodeRun) inCollectors() (bytes int64) {
	for _, open := range n.collectors {
		if open.Collector != nil {
			bytes += open.Buffered()
		}
	}
	return bytes
}

// checkOutput refuses a channel that is not an edge from this Node to a file.
func (n *NodeRun) checkOutput(c Channel) error {
	if slices.ContainsFunc(fileChannels(n.outputs), func(o Channel) bool { return o.Edge == c.Edge }) {
		return nil
	}
	return fmt.Errorf("node %v: it does not write edge %v to a file", n, c)
}

// partitions returns the number of partitions of an edge that is a file.
func (g *groupRun) partitions(c Channel) int {
	if c.Connection == dag.AllToAll {
		return max(1, g.nodesOf(c.To))
	}
	return 1
}

// fewRuns is the least limit of runs of a partition that a Node may publish.
const fewRuns = 4

// maxRuns returns how many runs of a partition the Node may publish unmerged. A reader gets
// that many from every writer, and should merge all in one pass.
func (n *NodeRun) maxRuns(c Channel) int {
	writers := 1
	if c.Connection != dag.OneToOne {
		writers = max(1, n.group.nodesOf(c.From))
	}
	return max(fewRuns, n.Attempt.Conf.Int(conf.SortFactor)/writers)
}

// mapOutputCodec returns the codec of files between Nodes. A wrong name fails the job at
// once.
func mapOutputCodec(c *conf.Conf) (shuffle.Codec, error) {
	if !c.Bool(conf.MapOutputCompress) {
		return shuffle.None, nil
	}
	codec, err := shuffle.ParseCodec(c.String(conf.MapOutputCompressCodec))
	if err != nil {
		return codec, &FatalError{Err: fmt.Errorf("%s: %w", conf.MapOutputCompressCodec, err)}
	}
	return codec, nil
}

// publish finishes the collectors and describes their files, in the order of edges.
func (n *NodeRun) publish() ([]*taskproc.MapOutput, error) {
	var published []*taskproc.MapOutput
	for _, c := range fileChannels(n.outputs) {
		n.enterPhase("sort")
		open := n.collectors[c.Edge]
		if open == nil || open.Collector == nil {
			return nil, fmt.Errorf("node %v: no output for %s was opened; call SetCollector or CollectorOptions even if it is empty", n, c.To)
		}
		output, err := n.publishOne(c, open)
		if err != nil {
			return nil, err
		}
		published = append(published, output)
	}
	return published, nil
}

// publishOne finishes the collector of an edge. The output carries where its map began to
// read, from which readers order equal keys (shuffle.Ordinal).
func (n *NodeRun) publishOne(c Channel, open *openCollector) (*taskproc.MapOutput, error) {
	if err := failpoint.Hit(failpoint.TaskSegment); err != nil {
		return nil, err
	}
	index, err := open.Finish(n.Attempt.ctx)
	if err != nil {
		return nil, err
	}
	n.group.memory.giveBack(open.memory)
	stats := open.Stats()
	addCollectorCounters(n.Attempt, stats)
	if index, err = n.joinPublished(c, index); err != nil {
		return nil, err
	}
	sums := n.sumsOf(c, stats.Sums)
	sizes := index.PartitionBytes()
	output := &taskproc.MapOutput{
		Edge: int32(c.Edge), Task: n.group.taskOf(n), Attempt: n.Attempt.Start.AttemptId,
		Path: index.Path, IndexChecksum: index.Checksum, Empty: taskproc.EmptySet(sizes),
		Emitted: sums.Emitted, Cuts: sums.Cuts,
	}
	for _, n := range sizes {
		output.Bytes += n
	}
	if m := n.source; m != nil {
		output.Ordinal, output.Start = m.split.Parts[0].Ordinal, taskproc.FromPosition(m.origin())
	}
	return output, nil
}

// joinPublished joins what attempts before a checkpoint have published along an edge with
// index, so that readers see one output of the task. It returns index if there is nothing to
// join.
func (n *NodeRun) joinPublished(c Channel, index *shuffle.Index) (*shuffle.Index, error) {
	var parts []*shuffle.Index
	var errs []error
	for _, o := range n.resumed.GetPublished() {
		if int(o.Edge) == c.Edge {
			x, err := n.Attempt.readIndex(o)
			parts, errs = append(parts, x), append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &unusableCheckpointError{err}
	}
	if len(parts) == 0 {
		return index, nil
	}
	joined, err := shuffle.Join(n.Attempt.ctx, n.Attempt.Local, n.Attempt.LocalFile(fmt.Sprintf("edge%d-node%d-joined.out", c.Edge, n.number)), append(parts, index))
	if errors.Is(err, storage.ErrCorrupt) {
		err = &unusableCheckpointError{err} // the new file was verified when it was written
	}
	return joined, err
}

// sumsOf returns the sums of what the task has emitted along an edge: those of a collector, joined
// with those of attempts before a checkpoint. A Node that reads records in the order of their
// arrival may cut them differently each time, though it cuts after the same number of records.
func (n *NodeRun) sumsOf(c Channel, sums shuffle.Sums) shuffle.Sums {
	for _, o := range n.resumed.GetPublished() {
		if int(o.Edge) == c.Edge {
			sums = sums.Join(shuffle.Sums{Emitted: o.Emitted})
		}
	}
	if !n.readsInOrder() {
		sums.Cuts = 0
	}
	return sums
}

// readsInOrder reports whether the Node gets the same records in the same order each time. Records
// that several writers send arrive in any order.
func (n *NodeRun) readsInOrder() bool {
	return !slices.ContainsFunc(n.inputs, func(c Channel) bool {
		if !c.isLive() {
			return false
		}
		if c.Kind != dag.ChannelSHM || len(c.Peers) != 1 {
			return true
		}
		writer := n.group.node(c.From, c.Peers[0])
		return writer == nil || !writer.readsInOrder()
	})
}

// store moves what was written for stored channels to the job's output. The files are
// removed with the job.
func (n *NodeRun) store(published []*taskproc.MapOutput) error {
	for i, c := range fileChannels(n.outputs) {
		if !c.Stored {
			continue
		}
		if err := n.storeOne(published[i]); err != nil {
			return fmt.Errorf("channel %v: %w", c, err)
		}
	}
	return nil
}

// storeOne moves one output to the job's output. The gate counts it as a remote file.
func (n *NodeRun) storeOne(o *taskproc.MapOutput) error {
	a := n.Attempt
	if a.Start.OutputDir == "" {
		return &FatalError{Err: errors.New("it is stored with the job's output, and the job has none")}
	}
	fsys, dir, err := a.Resolve(a.ctx, a.Start.OutputDir)
	if err != nil {
		return err
	}
	index, err := a.readIndex(o)
	if err != nil {
		return err
	}
	if err := a.countRemote(); err != nil {
		return err
	}
	defer a.gate.closed()
	to := path.Join(dir, a.Start.AttemptId+"."+path.Base(o.Path))
	if _, err := index.Move(a.ctx, a.Local, fsys, to, fsconf.CreateOptions(a.Conf)); err != nil {
		return err
	}
	o.Path, o.Stored = storage.Name(fsys, to), true
	return nil
}

// addCollectorCounters counts what a collector has done. It is called once per collector.
func addCollectorCounters(a *Attempt, s shuffle.Stats) {
	a.Counters.Add(counter.MapOutputRecords, s.Records)
	a.Counters.Add(counter.MapOutputBytes, s.Bytes)
	a.Counters.Add(counter.MapOutputMaterializedBytes, s.MaterializedBytes)
	a.Counters.Add(counter.SpilledRecords, s.SpilledRecords)
	a.Counters.Add(counter.CombineInputRecords, s.CombineIn)
	a.Counters.Add(counter.CombineOutputRecords, s.CombineOut)
}
