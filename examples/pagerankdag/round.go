package pagerankdag

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"iter"

	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/mr"
)

// The first byte of an address, in the order in which a round reads them. The rest of an
// address is the name of a node, or the number of the Node of the round that gets the total.
const (
	toNodes    = iota // a part of the number of nodes
	toStranded        // a part of the rank of nodes without links
	toName            // a node, with a share of rank
)

// partition sends totals to the Node that they are addressed to. It sends nodes to the same
// partitions as pagerank does, where their links are and the output is the same.
func partition(address []byte, partitions int) int {
	if address[0] == toName {
		return mr.HashPartition(address[1:], partitions)
	}
	return int(binary.BigEndian.Uint32(address[1:]))
}

// collect emits a node with the addresses of the nodes that it links to, each followed by a
// tab.
func collect(_ *mr.Task, node []byte, targets iter.Seq[[]byte], out mr.Emitter[[]byte, []byte]) error {
	var links []byte
	for target := range targets {
		if len(target) > 0 {
			links = append(append(append(links, toName), target...), '\t')
		}
	}
	out.Emit(append([]byte{toName}, node...), links)
	return nil
}

// totals are what a Node has received of the last round's totals, and has to send of its own
// round's. They survive a checkpoint.
type totals struct{ Received, Sent [toName]int64 }

// Save implements mr.Stateful.
func (t *totals) Save() ([]byte, error) { return json.Marshal(t) }

// Load implements mr.Stateful.
func (t *totals) Load(saved []byte) error { return json.Unmarshal(saved, t) }

// rank returns a node's new rank. The totals arrive before the nodes.
func (t *totals) rank(address []byte, shares iter.Seq[int64]) (rank int64, isNode bool) {
	var sum int64
	for share := range shares {
		sum += share
	}
	if address[0] < toName {
		t.Received[address[0]] = sum
		return 0, false
	}
	return pagerank.NewRank(sum, t.Received[toStranded], t.Received[toNodes]), true
}

// round lets ranks flow over the links once.
type round struct {
	totals
	links []byte // of the current node; scratch
}

// Reduce implements mr.CoReducer.
func (r *round) Reduce(_ *mr.Task, address []byte, links iter.Seq[[]byte], shares iter.Seq[int64], out mr.Emitter[[]byte, int64]) error {
	r.links = r.links[:0]
	for kept := range links { // one value; none for a total
		r.links = append(r.links, kept...)
	}
	if rank, isNode := r.rank(address, shares); isNode {
		r.spread(rank, r.links, out)
	}
	return nil
}

// spread sends an equal share of a node's rank over each link.
func (r *round) spread(rank int64, links []byte, out mr.Emitter[[]byte, int64]) {
	r.Sent[toNodes]++
	if len(links) == 0 {
		r.Sent[toStranded] += rank
		return
	}
	for share := rank / int64(bytes.Count(links, []byte{'\t'})); len(links) > 0; {
		end := bytes.IndexByte(links, '\t')
		out.Emit(links[:end], share)
		links = links[end+1:]
	}
}

// Close implements mr.Closer: it sends totals to each Node of the next round.
func (r *round) Close(t *mr.Task, out mr.Emitter[[]byte, int64]) error {
	for n := range t.Nodes() {
		for kind, total := range r.Sent {
			out.Emit(binary.BigEndian.AppendUint32([]byte{byte(kind)}, uint32(n)), total)
		}
	}
	return nil
}

// firstRound gives each node rank 1.
type firstRound struct{ round }

// Map implements mr.Mapper.
func (r *firstRound) Map(_ *mr.Task, _, links []byte, out mr.Emitter[[]byte, int64]) error {
	r.spread(pagerank.One, links, out)
	return nil
}

// lastRound writes ranks as decimal numbers.
type lastRound struct{ totals }

// Reduce implements mr.CoReducer.
func (r *lastRound) Reduce(_ *mr.Task, address []byte, _ iter.Seq[[]byte], shares iter.Seq[int64], out mr.Emitter[[]byte, []byte]) error {
	if rank, isNode := r.rank(address, shares); isNode {
		out.Emit(address[1:], pagerank.AppendRank(nil, rank))
	}
	return nil
}
