package pagerankdag

import (
	"encoding/binary"
	"encoding/json"
	"iter"

	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/mr"
)

// address is the receiver of a state. Totals go to a Node of the next round, addressed by
// its number. Other states go to a node of the graph, addressed by its name.
type address = mr.Pair[byte, []byte]

// The kinds of addresses, in the order in which a round reads them.
const (
	toRound byte = iota
	toNode
)

// state is what is sent to an address. A node gets its own links, separated by tabs, and a
// share of rank over each link to it. A round gets totals.
type state = mr.Triple[int64, int64, string]

func linksOf(links string) state       { return state{Third: links} }
func shareOf(rank int64) state         { return state{First: rank} }
func totalsOf(stranded, n int64) state { return state{First: stranded, Second: n} }

// merge adds ranks and totals and keeps the links, which only one of a node's states has.
func merge(a, b state) state {
	a.First += b.First
	a.Second += b.Second
	if a.Third == "" {
		a.Third = b.Third
	}
	return a
}

func mergeAll(states iter.Seq[state]) (all state) {
	for s := range states {
		all = merge(all, s)
	}
	return all
}

// partition sends totals to the Node that they are addressed to. It sends nodes to the same
// partitions as pagerank does, so that the output files are the same.
func partition(to address, partitions int) int {
	if to.First == toRound {
		return int(binary.BigEndian.Uint32(to.Second))
	}
	return mr.HashPartition(to.Second, partitions)
}

// spread is the half of a round that sends ranks over the links.
type spread struct {
	Stranded int64 // rank of nodes without links; all nodes share it
	Nodes    int64
}

// emit sends a node's links to the node itself, and an equal share of its rank over each
// link.
func (s *spread) emit(node []byte, rank int64, links string, out mr.Emitter[address, state]) {
	s.Nodes++
	out.Emit(address{First: toNode, Second: node}, linksOf(links))
	if links == "" {
		s.Stranded += rank
		return
	}
	for target, share := range pagerank.Shares(rank, links) {
		out.Emit(address{First: toNode, Second: []byte(target)}, shareOf(share))
	}
}

// Close implements mr.Closer: it sends totals to each Node of the next round.
func (s *spread) Close(t *mr.Task, out mr.Emitter[address, state]) error {
	for n := range t.Reduces() {
		out.Emit(address{First: toRound, Second: binary.BigEndian.AppendUint32(nil, uint32(n))}, totalsOf(s.Stranded, s.Nodes))
	}
	return nil
}

// Save implements mr.Stateful.
func (s *spread) Save() ([]byte, error) { return json.Marshal(s) }

// Load implements mr.Stateful.
func (s *spread) Load(saved []byte) error { return json.Unmarshal(saved, s) }

// ranking is the half of a round that reads the states of the previous round. The totals
// arrive first.
type ranking struct{ Stranded, Nodes int64 }

// rank computes the new rank of a node. node is nil for totals.
func (r *ranking) rank(to address, states iter.Seq[state]) (node []byte, rank int64, links string) {
	all := mergeAll(states)
	if to.First == toRound {
		r.Stranded, r.Nodes = all.First, all.Second
		return nil, 0, ""
	}
	return to.Second, pagerank.NewRank(all.First, r.Stranded, r.Nodes), all.Third
}

// Save implements mr.Stateful: totals survive a checkpoint.
func (r *ranking) Save() ([]byte, error) { return json.Marshal(r) }

// Load implements mr.Stateful.
func (r *ranking) Load(saved []byte) error { return json.Unmarshal(saved, r) }
