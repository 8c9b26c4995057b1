package mr

import (
	"context"
	"errors"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/task"
)

// shuffledSource is an input whose mapper feeds the reducer.
func shuffledSource[KI, VI, K, V, KO, VO any](in Input[KI, VI], mapper Mapper[KI, VI, K, V]) source[K, V, KO, VO] {
	return source[K, V, KO, VO]{
		input: in,
		mapAll: func(j *Job[K, V, KO, VO], m *task.Map) error {
			t, err := newTask(m.Attempt, j.config)
			if err != nil {
				return err
			}
			out, collector, err := j.collect(t, m)
			if err != nil {
				return err
			}
			m.SetCollector(collector)
			err = runMap(t, m, in, instance(mapper), out, collector.Err)
			if err != nil {
				return errors.Join(err, collector.Abort())
			}
			return nil
		},
		sample: func(ctx context.Context, j *Job[K, V, KO, VO], s *sampler) error {
			return sampleSource(ctx, j, in, mapper, s)
		},
	}
}

// mapOnlySource is an input whose mapper writes the output.
func mapOnlySource[KI, VI, KO, VO any](in Input[KI, VI], mapper Mapper[KI, VI, KO, VO]) source[KO, VO, KO, VO] {
	return source[KO, VO, KO, VO]{
		input: in,
		mapAll: func(j *Job[KO, VO, KO, VO], m *task.Map) error {
			t, err := newTask(m.Attempt, j.config)
			if err != nil {
				return err
			}
			w, err := openOutput(t, j.output, task.MainOutput)
			if err != nil {
				return err
			}
			err = runMap(t, m, in, instance(mapper), w, w.error)
			m.Counters.Add(counter.MapOutputRecords, w.records())
			return err
		},
	}
}

// RunMap implements task.Program.
func (j *Job[K, V, KO, VO]) RunMap(m *task.Map) error {
	return j.sources[m.Split().Input].mapAll(j, m)
}

// runMap is the record loop: it reads the attempt's range and calls the
// mapper. sunk is the first error of what out writes to.
func runMap[KI, VI, KO, VO any](t *Task, m *task.Map, in Input[KI, VI], mapper Mapper[KI, VI, KO, VO], out Emitter[KO, VO], sunk func() error) (err error) {
	reader, err := in.Open(t, splitOf(m.Split(), m.Work()))
	if err != nil {
		return err
	}
	defer reader.Close()
	t.where = whereOf(reader)
	m.SetConsumed(consumedOf(reader))
	if err := setUp(t, m.Attempt, mapper, m.OnPause); err != nil {
		return err
	}
	place := reader.Position
	defer func() {
		if v := recover(); v != nil {
			err = t.recordError(task.Recovered(v), place)
		}
	}()
	stopped, err := mapRecords(t, m, reader, mapper, out, sunk)
	if err != nil || stopped && m.Pausing() {
		return err
	}
	place = nil
	if c, ok := mapper.(Closer[KO, VO]); ok {
		if err := c.Close(t, out); err != nil {
			return err
		}
	}
	return sunk()
}

// mapRecords reports whether it was stopped before the end of the range.
func mapRecords[KI, VI, KO, VO any](t *Task, m *task.Map, reader Reader[KI, VI], mapper Mapper[KI, VI, KO, VO], out Emitter[KO, VO], sunk func() error) (stopped bool, err error) {
	records := int64(0)
	defer func() { m.CountRecords(records) }()
	skipping := m.Skipping()
	for reader.Next() {
		if m.Signalled() {
			m.CountRecords(records)
			records = 0
			if act, err := m.Attend(reader.Position()); act == task.Stop {
				return true, err
			}
		}
		records++
		if skipping && m.Skip(reader.Position()) {
			m.Counters.Add(counter.MapSkippedRecords, 1)
			continue
		}
		key, value := reader.Record()
		if err := mapper.Map(t, key, value, out); err != nil {
			return false, t.recordError(err, reader.Position)
		}
		if err := sunk(); err != nil {
			return false, err
		}
	}
	return false, reader.Err()
}

// setUp prepares a mapper or reducer for its first record.
func setUp(t *Task, a *task.Attempt, user any, onPause func(save func() ([]byte, error))) error {
	if s, ok := user.(Setup); ok {
		if err := callSetup(t, s); err != nil {
			return err
		}
	}
	s, ok := user.(Stateful)
	if !ok {
		return nil
	}
	onPause(s.Save)
	if a.UserState == nil {
		return nil
	}
	return s.Load(a.UserState)
}

func callSetup(t *Task, s Setup) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = task.Recovered(v)
		}
	}()
	return s.Setup(t)
}

// recordError says where in the input err came up. position is nil when no
// record is being worked on.
func (t *Task) recordError(err error, position func() dag.Position) error {
	record, ok := err.(*task.RecordError)
	if !ok {
		record = &task.RecordError{Err: err}
	}
	record.Input, record.Offset = t.Input()
	if position != nil {
		p := position()
		record.Record = &p
	}
	return record
}
