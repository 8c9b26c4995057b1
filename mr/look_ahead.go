package mr

import (
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
)

// LooksAhead is for mappers of an Each stage that look up the keys of their records in a large
// Lookup. Ahead gets a record some time before Map gets it, and announces the keys that Map will
// look up. It changes nothing else: the engine need not call it, and does so only for records
// from a Pipe. The bytes of its arguments are valid until it returns.
//
//	func (j *joiner) Ahead(key, _ []byte) { j.rows.Ahead(key) }
type LooksAhead[K, V any] interface {
	Ahead(key K, value V)
}

// aheadRecords is the number of records that Ahead gets before Map gets the first of them. It is
// large enough that cache misses overlap, and small enough that what they load is still in the
// cache when Map looks it up.
const aheadRecords = 64

// receiveAhead is receive for a mapper that looks ahead. Only batches in memory have several
// records at once. The records pass one by one, as without it, so it does not affect signals
// and checkpoints.
func receiveAhead[K, V any](t *Task, n *task.NodeRun, c Channel[K, V], ahead LooksAhead[K, V], record func(K, V) error) error {
	edge, err := edgeFrom(n, c.from.name)
	if err != nil {
		return err
	}
	if edge.Kind != dag.ChannelSHM {
		return receive(t, n, c, record)
	}
	record = lendRecord(t, record)
	announce := lendRecord(t, func(key K, value V) error {
		ahead.Ahead(key, value)
		return nil
	})
	return receiveShared(t, n, edge, func(_ int, b *batch[K, V]) error {
		for from := 0; from < len(b.keys); from += aheadRecords {
			to := min(from+aheadRecords, len(b.keys))
			for i := from; i < to; i++ {
				if err := announce(b.keys[i], b.values[i]); err != nil {
					return err
				}
			}
			for i := from; i < to; i++ {
				if err := record(b.keys[i], b.values[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
