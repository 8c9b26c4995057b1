package task

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/shuffle"
)

// Reduce is an input of a Node from files of other Nodes. It takes in their segments as they
// finish, merges them, and passes the groups to the user's code. A Node may have several,
// one after another or at once.
//
//	Reduce ─► Groups: openIntake ─► copyAll ─► intake.Merge ─► group loop ─► Close
//	                     │             │ checkpointed          │ PollSignals: Stop
//	                     ▼             ▼                       ▼
//	              a checkpoint's runs  State of the intake     State at the next boundary
//
// The Node's goroutine uses it.
type Reduce struct {
	Node *NodeRun

	channels     []Channel         // in order of edges
	main         bool              // its position is in checkpoints; see MainReduce
	divided      bool              // its second channel is marked in ordinals; see CoReduce
	dir          string            // directory of its own files, in the attempt's directory
	err          error             // error of an unknown input name
	subscription *subscription     // subscription to the outputs of its edges; open while it copies
	fetched      map[int]nodeSet   // writers whose outputs the intake has, with those of a checkpoint, by edge
	writers      []string          // attempts whose outputs are in the intake, unless it is a main one
	localWriters map[string]string // attempts that wrote the files on this machine that the intake reads, by path
	memory       int64             // bytes borrowed for the intake
	intake       *shuffle.Intake   // nil before Groups
	merge        *shuffle.Merge    // merge of all runs; nil before copying is complete
	groups       *shuffle.Groups   // groups of merge; nil before
	total        int64             // records to be reduced, for progress
	done         int64             // groups finished by this attempt
	checkpointed bool              // it stopped at a boundary for a checkpoint
	closed       bool              // Close was called
	counted      struct {          // values already added to the attempt's counters
		records int64               // values returned or skipped
		intake  shuffle.IntakeStats // statistics of merges
	}
}

// Reduce reads the named inputs, which are files, merged into one sorted stream;
// without names, all inputs that are files. The Node closes it, unless the caller does
// so earlier. A reduce of all inputs is a MainReduce. An attempt that resumes reads any
// other again from the beginning.
func (n *NodeRun) Reduce(inputs ...string) *Reduce {
	r := &Reduce{
		Node: n, channels: fileChannels(n.inputs), dir: fmt.Sprintf("intake%d-%d-%d", n.stage, n.number, len(n.reduces)),
		fetched: make(map[int]nodeSet), localWriters: make(map[string]string),
	}
	if len(inputs) > 0 {
		r.channels, r.err = n.named(inputs)
	}
	if len(r.channels) == 0 && r.err == nil {
		r.err = &FatalError{Err: fmt.Errorf("node %v: no file leads into it", n)}
	}
	n.reduces = append(n.reduces, r)
	if len(r.channels) == len(n.inputs) {
		r.beMain()
	}
	return r
}

// MainReduce is a Reduce whose position a checkpoint has. A Node has one at most, which it
// opens before the reduces of its sides.
func (n *NodeRun) MainReduce(inputs ...string) *Reduce {
	r := n.Reduce(inputs...)
	r.beMain()
	return r
}

// CoReduce is a MainReduce of two inputs, in the order of the graph. In each group, the values
// of the first come first; IsSecond distinguishes them.
func (n *NodeRun) CoReduce(first, second string) *Reduce {
	r := n.MainReduce(first, second)
	r.divided = true
	return r
}

// beMain makes the reduce a main one. It continues the one whose checkpoint was declined.
func (r *Reduce) beMain() {
	r.main = true
	if r.Node.declined != nil {
		r.adopt(r.Node.declined)
		r.Node.declined = nil
	}
}

// adopt continues with the state of another reduce, which is not used any more.
func (r *Reduce) adopt(last *Reduce) {
	r.Node.group.fetched.remove(last)
	r.fetched, r.localWriters = last.fetched, last.localWriters
	r.memory, r.intake, r.merge, r.groups = last.memory, last.intake, last.merge, last.groups
	r.total, r.counted = last.total, last.counted
}

// named returns the inputs with those names, in the order of edges.
func (n *NodeRun) named(names []string) ([]Channel, error) {
	var channels []Channel
	for _, c := range fileChannels(n.inputs) {
		if slices.Contains(names, c.Input) {
			channels = append(channels, c)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(channels, func(c Channel) bool { return c.Input == name }) {
			return nil, &FatalError{Err: fmt.Errorf("node %v: no input %q that is a file", n, name)}
		}
	}
	return channels, nil
}

// canCheckpoint reports whether the Node can be checkpointed between two groups of this
// reduce.
func (r *Reduce) canCheckpoint() bool { return r.main && r.Node.group.canCheckpoint() }

// Groups opens the merged stream. It waits until all segments have been written and
// taken in. prefix returns the length of the part of a key that makes its group; nil:
// all of it.
//
// It returns nil groups and no error if the attempt is checkpointed meanwhile: the
// caller returns nil at once.
func (r *Reduce) Groups(prefix func(key []byte) int) (*shuffle.Groups, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.groups != nil { // it continues after a declined checkpoint
		r.Node.enterPhase("reduce")
		return r.groups, nil
	}
	if r.intake == nil {
		if err := r.openIntake(prefix); err != nil {
			return nil, err
		}
	}
	r.Node.enterPhase("copy")
	complete, err := r.copyAll()
	if err != nil || !complete {
		return nil, err
	}
	// The segments are complete, so the memory of the intake is free for output.
	shuffle.ReleaseMemory()
	r.Node.enterPhase("sort")
	r.merge, err = r.intake.Merge(r.Node.Attempt.ctx)
	if err != nil {
		return nil, err
	}
	r.groups = r.merge.Groups()
	r.Node.enterPhase("reduce")
	return r.groups, nil
}

// openIntake makes the intake: an empty one, or one that resumes from the runs of a
// checkpoint.
func (r *Reduce) openIntake(prefix func(key []byte) int) error {
	r.memory = r.Node.group.memory.borrow(len(r.channels))
	opts := shuffle.IntakeOptions{
		FS:                 r.Node.Attempt.Local,
		Dir:                r.Node.Attempt.LocalFile(r.dir),
		Memory:             r.memory,
		Budget:             r.Node.group.server.budget.budgetOf(r.Node.Attempt.Conf, r.Node.group.server.Memory),
		InputBufferPercent: r.Node.Attempt.Conf.Float(conf.ShuffleInputBufferPercent),
		MergePercent:       r.Node.Attempt.Conf.Float(conf.ShuffleMergePercent),
		MemoryLimitPercent: r.Node.Attempt.Conf.Float(conf.ShuffleMemoryLimitPercent),
		InMemThreshold:     r.Node.Attempt.Conf.Int(conf.ReduceInMemThreshold),
		FreePercent:        1 - r.Node.Attempt.Conf.Float(conf.ReduceInputBufferPercent),
		Factor:             r.Node.Attempt.Conf.Int(conf.SortFactor),
		GroupPrefix:        prefix,
		Poison:             r.Node.Poisoned(),
	}
	defer func() { r.Node.currentIntake.Store(r.intake) }()
	var err error
	if r.Node.resumed == nil || !r.main {
		r.intake, err = shuffle.NewIntake(opts)
		return err
	}
	for _, f := range r.Node.resumed.Fetched {
		r.fetched[int(f.Edge)] = slices.Clone(f.Nodes)
	}
	for _, m := range r.Node.resumed.Merge {
		r.total += m.Records
	}
	r.intake, err = shuffle.NewIntakeFromState(opts, checkpoint.MergeStates(r.Node.resumed.Merge))
	return err
}

// blame turns an error about an output into one that names the attempt that wrote it.
func (r *Reduce) blame(err error) error {
	err = r.Node.blameCheckpoint(err)
	read, ok := errors.AsType[*shuffle.ReadError](err)
	if !ok || errors.As(err, new(*LostOutputError)) {
		return err
	}
	if attempt, local := r.localWriters[read.Path]; local {
		return &LostOutputError{Attempt: attempt, Err: err}
	}
	return err
}

// ordinalOf returns the order of the records of an output among equal keys.
func ordinalOf(o *taskproc.MapOutput) shuffle.Ordinal {
	return shuffle.Ordinal{Input: o.Ordinal, Start: taskproc.ToPosition(o.Start)}
}

// ordinalOf returns the same for this reduce, which may have to distinguish two inputs.
func (r *Reduce) ordinalOf(o *taskproc.MapOutput) shuffle.Ordinal {
	ordinal := ordinalOf(o)
	if r.divided && int(o.Edge) == r.channels[1].Edge {
		ordinal.Input |= secondInput
	}
	return ordinal
}

// secondInput is the bit in ordinals of the second input of a CoReduce. It exceeds the ordinals
// that the master gives, which count input files and stages. Checkpoints have it.
const secondInput = 1 << 30

// IsSecond reports whether the current value of a CoReduce is of the second input.
func (r *Reduce) IsSecond() bool { return r.groups.Ordinal().Input&secondInput != 0 }

// PollSignals handles signals between two key groups. The goroutine of the group loop
// calls it before it takes the next group, if Signalled says so.
func (r *Reduce) PollSignals() (Action, error) {
	if err := context.Cause(r.Node.Attempt.ctx); err != nil {
		return Stop, err
	}
	r.PollProgress()
	if r.canCheckpoint() && r.Node.Attempt.signals.acceptCheckpoint() {
		r.checkpointed = true
		return Stop, nil
	}
	return Continue, nil
}

// PollProgress reports progress if that was requested. It may be called between two
// values of a group. A checkpoint requested there is left to PollSignals.
func (r *Reduce) PollProgress() {
	if !r.Node.takeProgressSignal(r.canCheckpoint()) {
		return
	}
	if r.total > 0 {
		r.Node.setFraction((2 + float64(r.groups.Records())/float64(r.total)) / 3)
	}
	r.Node.Attempt.sendProgress(r.Node.group.progress())
}

// CountGroup adds one finished group.
func (r *Reduce) CountGroup() { r.done++ }

// countInput counts what has been read.
func (r *Reduce) countInput() {
	r.Node.Attempt.Counters.Add(counter.ReduceInputGroups, r.done)
	if r.groups != nil {
		r.Node.Attempt.Counters.Add(counter.ReduceInputRecords, r.groups.Records()-r.counted.records)
		r.counted.records = r.groups.Records()
	}
}

// countMerges counts what the intake wrote.
func (r *Reduce) countMerges() {
	if r.intake == nil {
		return
	}
	s, before := r.intake.Stats(), r.counted.intake
	if s.SpilledRecords > 0 {
		r.Node.Attempt.Counters.Add(counter.SpilledRecords, s.SpilledRecords-before.SpilledRecords)
		r.Node.Attempt.Counters.Add(counter.MergedMapOutputs, s.Merges-before.Merges)
	}
	r.counted.intake = s
}

// Close closes the files and returns the memory of the reduce. It may be called twice.
func (r *Reduce) Close() {
	if r.closed {
		return
	}
	r.closed = true
	if r.groups != nil {
		_ = r.groups.Close() // it was only read
	}
	if r.intake != nil {
		_ = r.intake.Close() // its files are removed with the attempt's directory
	}
	r.Node.group.memory.giveBack(r.memory)
}
