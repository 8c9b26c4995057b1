package task

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
)

// Map is one attempt of a map task.
type Map struct {
	*Attempt

	work      dag.Range // what this attempt was given
	processed dag.Range // what it has worked on: work, or less after a stop
	limit     int64     // bytes in work, for progress
	consumed  func() int64
	collector shuffle.Collector
	skip      []dag.Position // records to pass over, ascending; those behind are cut off
	records   int64
	save      func() ([]byte, error)
}

// OnPause sets what saves the state that the user's code keeps across records.
func (m *Map) OnPause(save func() ([]byte, error)) { m.save = save }

// Split is what the task reads; Work is the part of it that this attempt has
// been given.
func (m *Map) Split() *taskproc.Split { return m.Start.Split }

// Work is the range of records that the attempt has been given.
func (m *Map) Work() dag.Range { return m.work }

// SetConsumed hands over how to learn the bytes read so far, for progress.
// It is called by the goroutine of the record loop.
func (m *Map) SetConsumed(bytes func() int64) { m.consumed = bytes }

// Attend does what is waiting between two records; position is where the next
// record begins. It is called by the goroutine of the record loop when
// Signalled says so.
func (m *Map) Attend(position dag.Position) (Action, error) {
	if err := context.Cause(m.ctx); err != nil {
		return Stop, err
	}
	sample, end := m.signal.take()
	if sample {
		m.sample(position)
	}
	if !end {
		return Continue, nil
	}
	if m.tooEarly(position) {
		m.signal.any.Store(true) // come back at the next record
		return Continue, nil
	}
	m.processed.End = position
	return Stop, nil
}

// tooEarly reports whether an end at position would come before the place that
// the order names, or would leave an empty task behind.
func (m *Map) tooEarly(position dag.Position) bool {
	if !m.work.Start.Less(position) {
		return true
	}
	at := m.signal.stopAt.Load()
	return at != nil && !m.signal.pause.Load() && position.Less(*at)
}

// Skip reports whether the record that begins at position is one of those that
// failed before and are to be passed over.
func (m *Map) Skip(position dag.Position) bool {
	for len(m.skip) > 0 && m.skip[0].Less(position) {
		m.skip = m.skip[1:]
	}
	return len(m.skip) > 0 && m.skip[0] == position
}

// Skipping reports whether there is any record left to pass over.
func (m *Map) Skipping() bool { return len(m.skip) > 0 }

// CountRecords adds to the records read.
func (m *Map) CountRecords(n int64) {
	m.records += n
	m.Counters.Add(counter.MapInputRecords, n)
}

func (m *Map) sample(position dag.Position) {
	if m.consumed != nil && m.limit > 0 {
		m.setFraction(float64(m.consumed()) / float64(m.limit))
	}
	p := m.progress()
	p.Position = positionMessage(position)
	p.Records = m.records
	_ = m.send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: p}})
}

// CollectorOptions is how the attempt's collector works; partition and combine
// are the caller's to set.
func (m *Map) CollectorOptions() (shuffle.Options, error) {
	codec, err := mapOutputCodec(m.Conf)
	return shuffle.Options{
		FS:           m.Local,
		Path:         m.attemptFile("map.out"),
		Partitions:   int(m.Start.Reduces),
		Memory:       int64(m.Conf.Int(conf.SortMB)) << 20,
		SpillPercent: m.Conf.Float(conf.SpillPercent),
		Factor:       m.Conf.Int(conf.SortFactor),
		MaxRuns:      m.maxRuns(),
		Codec:        codec,
	}, err
}

// fewRuns is how many runs of a partition a map may publish in any case.
const fewRuns = 4

// maxRuns is how many runs of a partition the map may publish unmerged: as many
// as a reduce, which gets them of every map, can merge in one pass.
func (m *Map) maxRuns() int {
	return max(fewRuns, m.Conf.Int(conf.SortFactor)/max(1, int(m.Start.Maps)))
}

// SetCollector hands over the collector that the record loop emits to; a job
// with reduces has one. It is finished or aborted with the attempt.
func (m *Map) SetCollector(c shuffle.Collector) { m.collector = c }

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

// run carries out the attempt and returns its last message.
func (m *Map) run(prog Program) (*taskproc.FromTask, error) {
	defer func() {
		if m.collector != nil {
			_ = m.collector.Abort() // has no effect when it is finished
		}
	}()
	m.enterPhase("map")
	if err := prog.RunMap(m); err != nil {
		return nil, err
	}
	if m.consumed != nil {
		m.Counters.Add(counter.BytesRead, m.consumed())
	}
	m.enterPhase("sort")
	output, err := m.publish()
	if err != nil {
		return nil, err
	}
	if m.processed != m.work && m.Pausing() {
		return m.checkpoint(output)
	}
	pieces, _, err := m.outputs.close(false)
	if err != nil {
		return nil, err
	}
	done := &taskproc.Done{
		Range:  rangeMessage(m.processed),
		Pieces: pieces,
		Output: output,
	}
	for _, p := range pieces {
		done.OutputBytes += p.Length
		done.OutputRecords += p.Records
	}
	for _, b := range output.GetPartitionBytes() {
		done.OutputBytes += b
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Done{Done: done}}, nil
}

// publish finishes the collector and describes what it left.
func (m *Map) publish() (*taskproc.MapOutput, error) {
	if m.collector == nil {
		return nil, nil
	}
	index, err := m.collector.Finish(m.ctx)
	if err != nil {
		return nil, err
	}
	countCollector(m.Attempt, m.collector.Stats())
	if index, err = m.joinPublished(index); err != nil {
		return nil, err
	}
	return &taskproc.MapOutput{
		Task:           m.Start.Task,
		Attempt:        m.Start.AttemptId,
		Ordinal:        m.Start.Split.Parts[0].Ordinal,
		Start:          positionMessage(rangeOf(m.Start.Range).Start),
		Path:           index.Path,
		IndexChecksum:  index.Checksum,
		PartitionBytes: index.PartitionBytes(),
	}, nil
}

// joinPublished puts what attempts before a pause have published before index.
func (m *Map) joinPublished(index *shuffle.Index) (*shuffle.Index, error) {
	var parts []*shuffle.Index
	for _, o := range m.resumed.GetPublished() {
		x, err := shuffle.ReadIndex(m.ctx, m.Local, o.Path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, x)
	}
	if len(parts) == 0 {
		return index, nil
	}
	return shuffle.Join(m.ctx, m.Local, m.attemptFile("map.joined"), append(parts, index))
}

func countCollector(a *Attempt, s shuffle.Stats) {
	a.Counters.Add(counter.MapOutputRecords, s.Records)
	a.Counters.Add(counter.MapOutputBytes, s.Bytes)
	a.Counters.Add(counter.MapOutputMaterializedBytes, s.MaterializedBytes)
	a.Counters.Add(counter.SpilledRecords, s.SpilledRecords)
	a.Counters.Add(counter.CombineInputRecords, s.CombineIn)
	a.Counters.Add(counter.CombineOutputRecords, s.CombineOut)
}

// Pausing reports whether a loop that ended early is to go on in another
// attempt of the same task: it was told to pause, or to stop where its output
// cannot be cut without a trace.
func (m *Map) Pausing() bool { return m.signal.pause.Load() || m.outputs.framed() }
