package mr

import (
	"context"

	"github.com/hammr/hammr/internal/task"
)

// A batch is sent through memory when it has this many records, or this many bytes that had
// to be copied.
const (
	batchRecords = 256
	batchBytes   = 64 << 10
)

// batch holds records on their way from one Node of a process to another.
type batch[K, V any] struct {
	keys   []K
	values []V
	arena
}

func (b *batch[K, V]) full() bool {
	return len(b.keys) >= batchRecords || len(b.arena.bytes) >= batchBytes
}

func (b *batch[K, V]) each(record func(K, V) error) error {
	for i := range b.keys {
		if err := record(b.keys[i], b.values[i]); err != nil {
			return err
		}
	}
	return nil
}

// sharedWriters is the writing end of a channel in memory.
type sharedWriters[K, V any] struct {
	ctx     context.Context
	route   *route[K, V]
	choice  peerChoice
	key     copyFunc[K]
	value   copyFunc[V]
	writers []*task.SharedWriter // by peer
	open    []*batch[K, V]       // by peer
	encoded []byte               // scratch
	err     error                // the first one; it remains
}

func openShared[K, V any](t *Task, n *task.NodeRun, edge task.Channel, r *route[K, V]) (targetWriter[K, V], error) {
	s := &sharedWriters[K, V]{ctx: t.Context(), route: r, key: copyFuncOf(r.keys), value: copyFuncOf(r.values)}
	var err error
	if s.choice, err = choosePeers(t, edge, r); err != nil {
		return nil, err
	}
	for _, peer := range edge.Peers {
		s.writers = append(s.writers, n.SendShared(edge, peer))
		s.open = append(s.open, new(batch[K, V]))
	}
	return s, nil
}

// Emit implements Emitter.
func (s *sharedWriters[K, V]) Emit(key K, value V) {
	switch {
	case s.choice.all:
		for peer := range s.open {
			s.add(peer, key, value)
		}
	case s.choice.pick != nil:
		s.encoded = s.route.keys.Append(s.encoded[:0], key)
		s.add(s.choice.pick(s.encoded), key, value)
	default:
		s.add(0, key, value)
	}
}

// add puts a record into the batch for a peer. Each peer gets a copy of its own.
func (s *sharedWriters[K, V]) add(peer int, key K, value V) {
	b := s.open[peer]
	if b.keys == nil {
		b.keys, b.values = make([]K, 0, batchRecords), make([]V, 0, batchRecords)
	}
	b.keys = append(b.keys, s.key(&b.arena, key))
	b.values = append(b.values, s.value(&b.arena, value))
	if b.full() {
		s.send(peer)
	}
}

// send sends the batch of a peer and begins another.
func (s *sharedWriters[K, V]) send(peer int) {
	b := s.open[peer]
	s.open[peer] = new(batch[K, V])
	if len(b.keys) == 0 || s.err != nil {
		return
	}
	s.err = s.writers[peer].Send(s.ctx, b)
}

func (s *sharedWriters[K, V]) error() error { return s.err }

func (s *sharedWriters[K, V]) end(paused bool) error {
	for peer := range s.open {
		s.send(peer)
	}
	if s.err != nil {
		return s.err
	}
	for _, w := range s.writers {
		w.End(paused)
	}
	return nil
}

// receiveShared passes each batch to take, with the number of the Node that wrote it.
func receiveShared[K, V any](t *Task, n *task.NodeRun, edge task.Channel, take func(writer int, b *batch[K, V]) error) error {
	r := n.ReceiveShared(edge)
	for {
		got, from, ok, err := r.Receive(t.Context())
		if err != nil || !ok {
			return err
		}
		if err := take(from, got.(*batch[K, V])); err != nil {
			return err
		}
	}
}
