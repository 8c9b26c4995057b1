package mr

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
)

// target is a channel or an output to which a stage emits records.
type target[K, V any] interface {
	// open opens the target for one Node. If the Node fails, it also releases the opened
	// resources.
	open(t *Task, n *task.NodeRun) (targetWriter[K, V], error)
}

// targetWriter is a target that one Node has opened.
type targetWriter[K, V any] interface {
	Emitter[K, V]
	error() error          // the first error; records emitted after it are lost
	end(paused bool) error // ends the target after the last record; if paused, another attempt continues it
}

// multiEmitter emits to all targets of a Node, and counts the records.
// A stage with one channel has one writer; the loop over them costs little.
type multiEmitter[K, V any] struct {
	writers   []targetWriter[K, V] // all targets
	receivers []Emitter[K, V]      // of the targets that get the records
	count     int64
	collected bool // a collector counts the records too
}

// open opens the targets of a stage for one Node.
func (s *Stage[K, V]) open(t *Task, n *task.NodeRun) (*multiEmitter[K, V], error) {
	e := new(multiEmitter[K, V])
	for _, d := range s.targets {
		out, err := d.open(t, n)
		if err != nil {
			return nil, err
		}
		e.writers = append(e.writers, out)
		switch w := out.(type) {
		case totalsWriter[K, V]: // gets no records
		case collectorWriter[K, V]:
			e.receivers, e.collected = append(e.receivers, w.Emitter), true
		case *topWriter[K, V]:
			e.receivers, e.collected = append(e.receivers, w), true
		default:
			e.receivers = append(e.receivers, w)
		}
	}
	for i, out := range e.receivers {
		e.receivers[i] = lendEmits(t, out)
	}
	return e, nil
}

// Emit implements Emitter.
func (e *multiEmitter[K, V]) Emit(key K, value V) {
	e.count++
	for _, out := range e.receivers {
		out.Emit(key, value)
	}
}

// error returns the first error of any target.
func (e *multiEmitter[K, V]) error() error {
	for _, out := range e.writers {
		if err := out.error(); err != nil {
			return err
		}
	}
	return nil
}

// end ends all targets, also after an error of one.
func (e *multiEmitter[K, V]) end(paused bool) error {
	var errs []error
	for _, out := range e.writers {
		errs = append(errs, out.end(paused))
	}
	return errors.Join(errs...)
}

// outputTarget writes to files of the job's output.
type outputTarget[K, V any] struct {
	name   string
	format Output[K, V]
}

// open implements target.
func (o outputTarget[K, V]) open(t *Task, _ *task.NodeRun) (targetWriter[K, V], error) {
	return openOutput(t, o.format, o.name)
}

// channelTarget is the writing end of a channel to the stage named to.
type channelTarget[K, V any] struct {
	to    string
	route *route[K, V]
}

// open implements target. The submitted graph decides the kind of the channel, because the
// property hammr.job.channel.stored may have changed it.
func (c channelTarget[K, V]) open(t *Task, n *task.NodeRun) (targetWriter[K, V], error) {
	edge, err := edgeTo(n, c.to)
	if err != nil {
		return nil, err
	}
	switch edge.Kind {
	case dag.ChannelTCP:
		return openStreams(t, n, edge, c.route)
	case dag.ChannelSHM:
		return openShared(t, n, edge, c.route)
	}
	opts, err := n.CollectorOptions(edge)
	if err != nil {
		return nil, err
	}
	out, collector, err := collect(t, c.route, opts)
	if err != nil {
		return nil, err
	}
	n.SetCollector(edge, collector)
	w := collectorWriter[K, V]{out, collector.Err}
	if c.route.top != nil {
		return &topWriter[K, V]{firstRecords(c.route.top), w}, nil
	}
	return w, nil
}

// edgeTo returns the channel from the Node's stage to another.
func edgeTo(n *task.NodeRun, to string) (task.Channel, error) {
	return findEdge(n.Outputs(), n.Stage(), to)
}

// edgeFrom returns the channel from another stage to the Node's.
func edgeFrom(n *task.NodeRun, from string) (task.Channel, error) {
	return findEdge(n.Inputs(), from, n.Stage())
}

// findEdge returns the edge between two stages. A missing edge is a fatal error: this binary
// builds another graph than the submitted one, so every other attempt would fail too.
func findEdge(edges []task.Channel, from, to string) (task.Channel, error) {
	for _, c := range edges {
		if c.From == from && c.To == to {
			return c, nil
		}
	}
	return task.Channel{}, &task.FatalError{Err: fmt.Errorf("no edge %s -> %s in the graph that was submitted", from, to)}
}

// collectorWriter feeds a collector. The Node finishes the collector.
type collectorWriter[K, V any] struct {
	Emitter[K, V]
	err func() error
}

func (c collectorWriter[K, V]) error() error { return c.err() }
func (collectorWriter[K, V]) end(bool) error { return nil }
