package mr

import (
	"fmt"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// liveGroups sorts the records that arrive by a stream or pipe. Records of one writer arrive
// in the order of Emit, but records of several writers interleave arbitrarily. Records are
// therefore sorted by key and then by writer, so that the order of values is the same each
// time.
//
//	records ──> (key, writer), value ──> sort buffer ──> runs ──┐
//	runs of attempts before a checkpoint ───────────────────────┴──> merge ──> groups by key
type liveGroups struct {
	node    *task.NodeRun
	task    *Task
	receive func(record func(writer int, key, value []byte) error) error // passes each record in encoded form
	key     []byte                                                       // scratch
	buffer  *shuffle.SortBuffer                                          // while records arrive; nil before Open
	intake  *shuffle.Intake                                              // merges the runs; nil before merge
	groups  *shuffle.Groups                                              // the groups of the merge
	done    int64                                                        // groups that were reduced
}

// writerKeys encodes a key together with the number of its writer.
var writerKeys = keys.PairOf(keys.Bytes{}, keys.Unsigned[uint32]{})

// Open implements groupSource.
func (g *liveGroups) Open() (*shuffle.Groups, error) {
	buffer, err := shuffle.NewSortBuffer(g.node.Attempt.Context(), shuffle.Options{
		FS: g.node.Attempt.Local, Path: g.file("sorted"), Partitions: 1,
		Memory:       g.memory() / 2, // the merge has the other half
		SpillPercent: g.node.Attempt.Conf.Float(conf.SpillPercent),
		Factor:       g.node.Attempt.Conf.Int(conf.SortFactor),
		Poison:       g.task.poisoned(),
	})
	if err != nil {
		return nil, err
	}
	g.buffer = buffer
	if err := g.receive(g.add); err != nil {
		return nil, err
	}
	index, err := buffer.Finish(g.node.Attempt.Context())
	if err != nil {
		return nil, err
	}
	g.node.Attempt.Counters.Add(counter.SpilledRecords, buffer.Stats().SpilledRecords)
	return g.merge(index)
}

// round returns the number of checkpoints before this attempt. Records of one key and writer
// are ordered by the round in which they arrived.
func (g *liveGroups) round() (n int32) {
	for _, run := range g.node.Runs() {
		n = max(n, run.Ordinal.Input+1)
	}
	return n
}

// file returns the name of a local file of the Node. A process may run several Nodes of a
// stage.
func (g *liveGroups) file(what string) string {
	return g.node.Attempt.LocalFile(fmt.Sprintf("%s-%s-%d", what, g.node.Stage(), g.node.Number()))
}

// memory returns mapreduce.task.io.sort.mb in bytes.
func (g *liveGroups) memory() int64 { return int64(g.node.Attempt.Conf.Int(conf.SortMB)) << 20 }

// add adds one record of a writer to the sort buffer.
func (g *liveGroups) add(writer int, key, value []byte) error {
	g.key = writerKeys.Append(g.key[:0], Pair[[]byte, uint32]{First: key, Second: uint32(writer)})
	g.buffer.Emit(g.key, value)
	return g.buffer.Err()
}

// merge returns the groups of all sorted records, of this attempt and of attempts before a
// checkpoint. It returns nil if the attempt is being checkpointed: then the runs are saved,
// and the next attempt continues to receive.
func (g *liveGroups) merge(index *shuffle.Index) (*shuffle.Groups, error) {
	var err error
	g.intake, err = shuffle.NewIntakeFromState(shuffle.IntakeOptions{
		FS: g.node.Attempt.Local, Dir: g.file("merge"), Memory: g.memory() / 2, Factor: g.node.Attempt.Conf.Int(conf.SortFactor),
		GroupPrefix: keyOfWriter, Poison: g.task.poisoned(),
	}, g.node.Runs())
	if err != nil {
		return nil, err
	}
	for _, source := range index.Sources(g.node.Attempt.Local, 0, shuffle.Ordinal{Input: g.round()}) {
		if err := g.intake.AddLocal(source); err != nil {
			return nil, err
		}
	}
	if g.node.Checkpointed() {
		return nil, g.saveRuns()
	}
	merge, err := g.intake.Merge(g.node.Attempt.Context())
	if err != nil {
		return nil, err
	}
	g.groups = merge.Groups()
	return g.groups, nil
}

// SaveState implements groupSource. The current group is complete, so the checkpoint begins at
// the next group.
func (g *liveGroups) SaveState() error {
	if !g.node.Checkpointed() {
		return nil
	}
	g.groups.Boundary()
	if err := g.groups.Err(); err != nil {
		return err
	}
	return g.saveRuns()
}

// saveRuns puts the runs into the checkpoint and gives up the local files, which now belong
// to the checkpoint.
func (g *liveGroups) saveRuns() error {
	runs, err := g.intake.State(g.node.Attempt.Context())
	if err != nil {
		return err
	}
	g.node.KeepRuns(runs)
	return g.intake.Detach()
}

// keyOfWriter returns the length of the part of an encoded key that precedes the writer.
func keyOfWriter(key []byte) int {
	n, err := writerKeys.(keys.Grouper).GroupLen(key)
	if err != nil {
		panic(fmt.Errorf("grouping a key: %w", err))
	}
	return n
}

// withoutWriter returns the decoder of keys that are encoded together with the number of their
// writer.
func withoutWriter[K any](decode func(encoded []byte) (K, error)) func(encoded []byte) (K, error) {
	return func(encoded []byte) (key K, err error) {
		if encoded, err = cutWriter(encoded); err != nil {
			return key, err
		}
		return decode(encoded)
	}
}

// cutWriter returns the part of an encoded key that precedes the writer.
func cutWriter(encoded []byte) ([]byte, error) {
	pair, err := writerKeys.Decode(encoded)
	return pair.First, err
}

// CountGroup implements groupAttempt.
func (g *liveGroups) CountGroup() { g.done++ }

// PollSignals implements groupAttempt.
func (g *liveGroups) PollSignals() (task.Action, error) { return g.node.PollSignals() }

// PollProgress implements groupAttempt.
func (g *liveGroups) PollProgress() { g.node.PollProgress() }

// Close counts the records that were read and removes the files.
func (g *liveGroups) Close() {
	g.node.Attempt.Counters.Add(counter.ReduceInputGroups, g.done)
	if g.buffer != nil {
		g.node.Attempt.Counters.Add(counter.ReduceInputRecords, g.buffer.Stats().Records)
		_ = g.buffer.Abort() // has no effect on a finished buffer
	}
	if g.intake != nil {
		_ = g.intake.Close() // remaining files are removed with the attempt's directory
	}
}
