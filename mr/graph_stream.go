package mr

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
)

// peerChoice determines which peers at the other end of a live channel get a record.
type peerChoice struct {
	all  bool                 // all peers get each record
	pick func(key []byte) int // chooses the peer by the key; nil for the first peer
}

// choosePeers chooses by the connection: all peers for a broadcast, by key for all-to-all,
// and the only peer otherwise.
func choosePeers[K, V any](t *Task, edge task.Channel, r *route[K, V]) (d peerChoice, err error) {
	switch edge.Connection {
	case dag.Broadcast:
		d.all = true
	case dag.AllToAll:
		n := len(edge.Peers)
		if d.pick, err = partitioner(t, r, n); d.pick == nil {
			d.pick = func(key []byte) int { return HashPartition(key, n) }
		}
	}
	return d, err
}

// streamWriters is the writing end of a channel over TCP.
type streamWriters[K, V any] struct {
	encoder[K, V]
	choice  peerChoice
	writers []*task.StreamWriter // by peer
	err     error                // the first error; it remains
}

// openStreams waits until each peer is connected.
func openStreams[K, V any](t *Task, n *task.NodeRun, edge task.Channel, r *route[K, V]) (targetWriter[K, V], error) {
	s := &streamWriters[K, V]{encoder: encoder[K, V]{keys: r.keys, values: r.values}}
	s.add = s.write
	var err error
	if s.choice, err = choosePeers(t, edge, r); err != nil {
		return nil, err
	}
	for _, peer := range edge.Peers {
		w, err := n.SendStream(edge, peer)
		if err != nil {
			return nil, err
		}
		s.writers = append(s.writers, w)
	}
	return s, nil
}

// write sends one encoded record. Each stream buffers; a slow peer blocks the writer.
func (s *streamWriters[K, V]) write(key, value []byte) {
	switch {
	case s.err != nil:
	case s.choice.all:
		for _, w := range s.writers {
			s.err = errors.Join(s.err, w.Write(key, value))
		}
	case s.choice.pick != nil:
		s.err = s.writers[s.choice.pick(key)].Write(key, value)
	default:
		s.err = s.writers[0].Write(key, value)
	}
}

func (s *streamWriters[K, V]) error() error { return s.err }

// end flushes the streams and marks their ends. The mark shows whether another attempt
// continues the stream.
func (s *streamWriters[K, V]) end(paused bool) error {
	errs := []error{s.err}
	for _, w := range s.writers {
		errs = append(errs, w.End(paused))
	}
	return errors.Join(errs...)
}

// receive passes each record of a live channel to record.
func receive[K, V any](t *Task, n *task.NodeRun, c Channel[K, V], record func(K, V) error) error {
	edge, err := edgeFrom(n, c.from.name)
	if err != nil {
		return err
	}
	if edge.Kind == dag.ChannelSHM {
		record = lendRecord(t, record)
		return receiveShared(t, n, edge, func(_ int, b *batch[K, V]) error { return b.each(record) })
	}
	lentKey, lentValue := t.lender(), t.lender()
	defer lentKey.End()
	defer lentValue.End()
	decodeKey, decodeValue := lending(lentKey, c.route.keys.Decode), lending(lentValue, c.route.values.Decode)
	return receiveStreams(n, edge, func(_ int, key, value []byte) error {
		k, err := decodeKey(key)
		if err != nil {
			return fmt.Errorf("decoding a key: %w", err)
		}
		v, err := decodeValue(value)
		if err != nil {
			return fmt.Errorf("decoding a value: %w", err)
		}
		return record(k, v)
	})
}

// receiveEncoded passes each record of a live channel to record in encoded form, with the
// number of the Node that wrote it.
func receiveEncoded[K, V any](t *Task, n *task.NodeRun, c Channel[K, V], record func(writer int, key, value []byte) error) error {
	edge, err := edgeFrom(n, c.from.name)
	if err != nil {
		return err
	}
	if edge.Kind != dag.ChannelSHM {
		return receiveStreams(n, edge, record)
	}
	var key, value []byte
	return receiveShared(t, n, edge, func(writer int, b *batch[K, V]) error {
		return b.each(func(k K, v V) error {
			key, value = c.route.keys.Append(key[:0], k), c.route.values.Append(value[:0], v)
			return record(writer, key, value)
		})
	})
}

// receiveStreams reads the streams of all writers, interleaved as they arrive, until all have
// ended.
func receiveStreams(n *task.NodeRun, edge task.Channel, record func(writer int, key, value []byte) error) error {
	r, err := n.ReceiveStreams(edge)
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		if err := record(r.From(), r.Key(), r.Value()); err != nil {
			return err
		}
	}
	return r.Err()
}
