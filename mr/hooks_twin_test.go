//go:build hooks

package mr

import (
	"fmt"

	"github.com/hammr/hammr/internal/task"
)

// mapRecordsBare is a copy of mapRecords without preemption: it does not check for signals
// between records.
func mapRecordsBare[KI, VI, KO, VO any](t *Task, m *task.Map, reader Reader[KI, VI], mapper Mapper[KI, VI, KO, VO], out Emitter[KO, VO], sunk func() error) (stopped bool, err error) {
	records := int64(0)
	mapping := false
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
	each := skipping || brake != nil
	for reader.Next() {
		if each {
			if skipping && m.Skip(reader.Position()) {
				records++
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

// runBare is a copy of groupLoop.run without preemption.
func (g *groupLoop[K, V, KO, VO]) runBare() (paused bool, err error) {
	values, brake := g.valuesBare, newThrottle(g.task)
	for {
		if !g.groups.NextGroup() {
			return false, g.groups.Err()
		}
		if err := brake.record(); err != nil {
			return false, err
		}
		key, err := g.key(g.groups.Key())
		if err != nil {
			return false, fmt.Errorf("decoding a key: %w", err)
		}
		if err := g.reducer.Reduce(g.task, key, values, g.out); err != nil {
			return false, err
		}
		if err := g.err(); err != nil {
			return false, err
		}
		g.attempt.CountGroup()
	}
}

// valuesBare is a copy of groupLoop.values without preemption.
func (g *groupLoop[K, V, KO, VO]) valuesBare(yield func(V) bool) {
	for g.groups.NextValue() {
		v, err := g.value(g.groups.Value())
		if err != nil {
			g.decodeErr = fmt.Errorf("decoding a value: %w", err)
			return
		}
		if !yield(v) {
			return
		}
	}
}
