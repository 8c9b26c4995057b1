package pagerank

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// state is a round's record of a node: its rank, and the nodes that it links to, separated
// by tabs. A state without links is a share of rank that a node sends over a link.
type state = mr.Pair[int64, string]

// Graph reads lines of a node and the nodes that it links to, separated by tabs. It writes
// the state of each node with rank 1. A node may have any number of lines. If it links twice
// to another node, it has two links.
var Graph = mr.New("pagerank-graph",
	mr.KeyValueText(),
	mr.MapFunc(Nodes),
	mr.ReduceFunc(func(t *mr.Task, node []byte, targets iter.Seq[[]byte], out mr.Emitter[[]byte, []byte]) error {
		t.Counter(counters, nodes).Add(1)
		out.Emit(node, finish(t, state{First: One, Second: string(AppendLinks(nil, targets))}))
		return nil
	}),
	mr.SequenceOutput(mr.Text, mr.Text),
)

// Config has the totals over all nodes that a round needs. The driver sets it from the
// counters of the previous job.
type Config struct {
	Nodes    int64
	Stranded int64 // rank of all nodes without links
}

// Round lets ranks flow over the links once.
var Round = newRound("pagerank-round", finish, mr.SequenceOutput(mr.Text, mr.Text))

// LastRound writes node, tab and rank.
var LastRound = newRound("pagerank", show, mr.TextOutput[[]byte, []byte]())

// newRound makes a job for one round. The rounds differ only in what they write: the state for
// the next round, or the rank for the user. The combiner adds the shares that the nodes of one
// map send to the same node.
func newRound(name string, write func(*mr.Task, state) []byte, output mr.Output[[]byte, []byte]) *mr.Job[[]byte, state, []byte, []byte] {
	job := mr.New(name,
		mr.SequenceFile(mr.Text, mr.Text),
		mr.MapFunc(spread),
		mr.ReduceFunc(func(t *mr.Task, node []byte, states iter.Seq[state], out mr.Emitter[[]byte, []byte]) error {
			var all state
			for s := range states {
				all = merge(all, s)
			}
			config := mr.ConfigOf[Config](t)
			all.First = NewRank(all.First, config.Stranded, config.Nodes)
			out.Emit(node, write(t, all))
			return nil
		}),
		output,
	).Combine(mr.Fold[[]byte](merge))
	return mr.WithConfig(job, Config{})
}

// spread is the mapper: it sends a node's links to the node itself, and an equal share of its
// rank over each of them.
func spread(_ *mr.Task, node, value []byte, out mr.Emitter[[]byte, state]) error {
	first, links, _ := bytes.Cut(value, []byte{'\t'})
	rank, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return fmt.Errorf("state of a node: %w", err)
	}
	out.Emit(node, state{Second: string(links)})
	for target, share := range Shares(rank, links) {
		out.Emit(target, state{First: share})
	}
	return nil
}

// merge adds ranks and keeps the links, which only one of a node's states has.
func merge(a, b state) state {
	a.First += b.First
	if a.Second == "" {
		a.Second = b.Second
	}
	return a
}

// finish returns the state in the form that spread reads: the rank, a tab and the links. It
// counts the rank of nodes without links, which the next round needs.
func finish(t *mr.Task, s state) []byte {
	if s.Second == "" {
		t.Counter(counters, stranded).Add(s.First)
	}
	return append(append(strconv.AppendInt(nil, s.First, 10), '\t'), s.Second...)
}

// show returns the rank as a decimal number.
func show(_ *mr.Task, s state) []byte {
	return AppendRank(nil, s.First)
}
