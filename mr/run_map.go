package mr

import (
	"context"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/task"
)

// sourceOf returns the source for an input and its mapper. The mapper feeds the reducer, or
// the output if the job has no reducer or a property leaves it out.
func sourceOf[KI, VI, K, V, KO, VO any](in Input[KI, VI], mapper Mapper[KI, VI, K, V]) source[K, V, KO, VO] {
	return source[K, V, KO, VO]{
		input:      in,
		disallowed: disallowedModes[K, V](mapper),
		mapAll: func(j *Job[K, V, KO, VO], m *task.Map) error {
			t, err := newTask(m.Node, j.config, j.named)
			if err != nil {
				return err
			}
			if outputs := m.Node.Outputs(); len(outputs) > 0 {
				return mapToReduces(j, t, m, outputs[0], in, instance(mapper))
			}
			output, ok := any(j.output).(Output[K, V])
			if !ok {
				return &task.FatalError{Err: j.needReduce()}
			}
			return mapToOutput(t, m, in, instance(mapper), output)
		},
		sample: func(ctx context.Context, j *Job[K, V, KO, VO], s *sampler) error {
			return sampleSource(ctx, j, in, mapper, s)
		},
	}
}

// mapToReduces runs a map whose output is sorted and kept for the reduces.
func mapToReduces[KI, VI, K, V, KO, VO any](j *Job[K, V, KO, VO], t *Task, m *task.Map, to task.Channel, in Input[KI, VI], mapper Mapper[KI, VI, K, V]) error {
	opts, err := m.Node.CollectorOptions(to)
	if err != nil {
		return err
	}
	out, collector, err := collect(t, &j.route, opts)
	if err != nil {
		return err
	}
	m.Node.SetCollector(to, collector)
	return runMap(t, m, in, mapper, lendEmits(t, out), collector.Err)
}

// mapToOutput runs a map that writes the job's output itself.
func mapToOutput[KI, VI, KO, VO any](t *Task, m *task.Map, in Input[KI, VI], mapper Mapper[KI, VI, KO, VO], output Output[KO, VO]) error {
	out, err := openOutput(t, output, task.MainOutput)
	if err != nil {
		return err
	}
	err = runMap(t, m, in, mapper, out, out.error)
	m.Node.Attempt.Counters.Add(counter.MapOutputRecords, out.count)
	return err
}

// RunNode implements task.Program: it runs a map if the Node has a split, else a reduce.
func (j *Job[K, V, KO, VO]) RunNode(n *task.NodeRun) error {
	if m := n.Map(); m != nil {
		return j.sources[m.Split().Input].mapAll(j, m)
	}
	return j.reduceAll(n.Reduce())
}

// runMap calls the mapper for each record of the attempt's range. sunk returns the first
// error of writing the records that out has received.
//
//	open the reader ──> setUp ──> mapRecords ──> Close of the mapper
//
// An attempt that is checkpointed does not call Close; the attempt that resumes calls it. An
// attempt that is split or truncated calls Close, because it publishes the records that it
// has emitted.
func runMap[KI, VI, KO, VO any](t *Task, m *task.Map, in Input[KI, VI], mapper Mapper[KI, VI, KO, VO], out Emitter[KO, VO], sunk func() error) error {
	reader, err := in.Open(t, splitOf(m.Split(), m.Work()))
	if err != nil {
		return err
	}
	defer reader.Close()
	t.location = locationOf(reader)
	m.SetConsumed(consumedOf(reader))
	if err := setUp[KO, VO](t, mapper); err != nil {
		return err
	}
	stopped, err := mapRecords(t, m, reader, mapper, out, sunk)
	if err != nil || stopped && m.Node.Checkpointed() {
		return err
	}
	if err := closeUser(t, mapper, out); err != nil {
		return err
	}
	return sunk()
}

// mapRecords is the record loop. It reports whether it was stopped before the end of the
// range.
//
// Between two records it checks one flag. The flag is set if a signal waits (an order to
// preempt, a request for progress), and always if records are skipped or delayed. So the
// usual record costs one comparison. If the user's code fails by an error or a panic while
// it maps, mapRecords blames the record, and later attempts may skip it. An error of the
// output, which sunk returns, is not blamed on the record.
func mapRecords[KI, VI, KO, VO any](t *Task, m *task.Map, reader Reader[KI, VI], mapper Mapper[KI, VI, KO, VO], out Emitter[KO, VO], sunk func() error) (stopped bool, err error) {
	records := int64(0)
	mapping := false // the current record is to blame for a panic
	defer func() {
		m.CountRecords(records)
		if v := recover(); v != nil {
			err = recovered(v)
			if mapping {
				err = t.blame(err, reader.Position())
			}
		}
	}()
	skipping, brake := m.Skipping(), newThrottle(t)
	each := skipping || brake != nil // the flag is checked at each record
	watch := m.Node.SignalFlag().OrAlways(each)
	for reader.Next() {
		if watch.Signalled() {
			if m.Node.Signalled() {
				m.CountRecords(records)
				records = 0
				if act, err := m.PollSignals(reader.Position()); act == task.Stop {
					return true, err
				}
			}
			if skipping && m.Skip(reader.Position()) {
				records++
				m.Node.Attempt.Counters.Add(counter.MapSkippedRecords, 1)
				continue
			}
			if err := brake.record(); err != nil {
				return false, err
			}
		}
		records++
		mapping = true
		key, value := reader.Record()
		if err := mapper.Map(t, key, value, out); err != nil {
			return false, t.blame(err, reader.Position())
		}
		mapping = false
		if err := sunk(); err != nil {
			return false, err
		}
	}
	return false, reader.Err()
}
