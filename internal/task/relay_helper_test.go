package task

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle"
)

// relay is a program that forwards every record along every edge, to all readers or to one
// of them. A source Node generates its records.
type relay struct {
	records int // number of records of each source Node
	mu      sync.Mutex
	seen    map[string][]string // records seen, by Node
}

type keyValue struct{ key, value string }

func sourceRecords(stage string, node, n int) []keyValue {
	var out []keyValue
	for i := range n {
		out = append(out, keyValue{fmt.Sprintf("key %d", (i*7+node)%50), fmt.Sprintf("%s %d, %d", stage, node, i)})
	}
	return out
}

func (p *relay) RunNode(n *NodeRun) error {
	records, err := p.read(n)
	if err != nil {
		return err
	}
	p.mu.Lock()
	for _, r := range records {
		p.seen[n.String()] = append(p.seen[n.String()], r.key+"="+r.value)
	}
	p.mu.Unlock()
	var group errgroup.Group
	for _, c := range n.Outputs() {
		if c.Kind == dag.ChannelFile {
			if err := writeFileTo(n, c, records); err != nil {
				return err
			}
			continue
		}
		for _, peer := range c.Peers {
			send, err := sender(n, c, peer)
			if err != nil {
				return err
			}
			group.Go(func() error { return send(chosen(c, peer, records)) })
		}
	}
	return group.Wait()
}

// chosen returns the records for one reader.
func chosen(c Channel, peer int, records []keyValue) []keyValue {
	if c.Connection != dag.AllToAll {
		return records
	}
	var out []keyValue
	for _, r := range records {
		if shuffle.HashPartition([]byte(r.key), len(c.Peers)) == peer {
			out = append(out, r)
		}
	}
	return out
}

func writeFileTo(n *NodeRun, c Channel, records []keyValue) error {
	opts, err := n.CollectorOptions(c)
	if err != nil {
		return err
	}
	b, err := shuffle.NewSortBuffer(n.Attempt.Context(), opts)
	if err != nil {
		return err
	}
	n.SetCollector(c, b)
	for _, r := range records {
		b.Emit([]byte(r.key), []byte(r.value))
	}
	return b.Err()
}

// sender returns a function that sends records to a peer through a stream or memory.
func sender(n *NodeRun, c Channel, peer int) (func([]keyValue) error, error) {
	if c.Kind == dag.ChannelSHM {
		w := n.SendShared(c, peer)
		return func(records []keyValue) error {
			defer w.Close()
			for some := range slices.Chunk(records, 3) {
				if err := w.Send(n.Attempt.Context(), some); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	w, err := n.SendStream(c, peer)
	if err != nil {
		return nil, err
	}
	return func(records []keyValue) error {
		for _, r := range records {
			if err := w.Write([]byte(r.key), []byte(r.value)); err != nil {
				return err
			}
		}
		return w.Close()
	}, nil
}

// read reads all inputs at once.
func (p *relay) read(n *NodeRun) ([]keyValue, error) {
	if n.Map() != nil {
		if start := n.Map().Work().Start.Offset; start != int64(100*n.Number()) {
			return nil, fmt.Errorf("%v was given a split that begins at %d", n, start)
		}
		return sourceRecords(n.Stage(), n.Number(), p.records), nil
	}
	var group errgroup.Group
	parts := make([][]keyValue, len(n.Inputs())+1)
	for i, c := range n.Inputs() {
		switch c.Kind {
		case dag.ChannelTCP:
			r, err := n.ReceiveStreams(c)
			if err != nil {
				return nil, err
			}
			group.Go(func() error { return readStreams(r, &parts[i]) })
		case dag.ChannelSHM:
			group.Go(func() error { return readShared(n, n.ReceiveShared(c), &parts[i]) })
		}
	}
	if len(fileChannels(n.Inputs())) > 0 {
		r := n.Reduce()
		group.Go(func() error { return readFiles(r, &parts[len(parts)-1]) })
	}
	err := group.Wait()
	return slices.Concat(parts...), err
}

func readFiles(r *Reduce, into *[]keyValue) error {
	g, err := r.Groups(nil)
	if err != nil {
		return err
	}
	for g.NextGroup() {
		for g.NextValue() {
			*into = append(*into, keyValue{string(g.FullKey()), string(g.Value())})
		}
		r.CountGroup()
	}
	return g.Err()
}

func readStreams(r *StreamReader, into *[]keyValue) error {
	for r.Next() {
		*into = append(*into, keyValue{string(r.Key()), string(r.Value())})
	}
	return r.Err()
}

func readShared(n *NodeRun, r *SharedReader, into *[]keyValue) error {
	for {
		batch, _, ok, err := r.Receive(n.Attempt.Context())
		if err != nil || !ok {
			return err
		}
		*into = append(*into, batch.([]keyValue)...)
	}
}

// twin computes stage by stage the records that each Node of a relay should see.
func twin(g dag.Graph, perSource int, combineSets []*taskproc.CombineSet) map[string][]string {
	records := make(map[string][]keyValue)
	name := func(stage string, node int) string { return fmt.Sprintf("%s %d", stage, node) }
	for _, s := range g.Stages { // stages are in topological order
		for node := range s.Nodes {
			if g.IsSource(s.Name) {
				records[name(s.Name, node)] = sourceRecords(s.Name, node, perSource)
			}
			for i, e := range g.Edges {
				if e.To != s.Name {
					continue
				}
				for from := range g.Stages[g.StageIndex(e.From)].Nodes {
					for _, r := range records[name(e.From, from)] {
						if reaches(g, e, i, from, node, r, combineSets) {
							records[name(s.Name, node)] = append(records[name(s.Name, node)], r)
						}
					}
				}
			}
		}
	}
	seen := make(map[string][]string)
	for node, all := range records {
		for _, r := range all {
			seen[node] = append(seen[node], r.key+"="+r.value)
		}
	}
	return seen
}

func reaches(g dag.Graph, e dag.Edge, edge, from, to int, r keyValue, combineSets []*taskproc.CombineSet) bool {
	switch e.Connection {
	case dag.AllToAll:
		return shuffle.HashPartition([]byte(r.key), g.Stages[g.StageIndex(e.To)].Nodes) == to
	case dag.OneToOne:
		return from == to
	case dag.PerMachine:
		return slices.ContainsFunc(combineSets, func(s *taskproc.CombineSet) bool {
			return int(s.Edge) == edge && int(s.Node) == to && slices.Contains(s.Writers, int32(from))
		})
	}
	return true
}

// randomGraph draws a valid graph.
func randomGraph(r *rand.Rand) dag.Graph {
	for {
		var g dag.Graph
		for i := range 2 + r.IntN(4) {
			g.Stages = append(g.Stages, dag.Stage{Name: fmt.Sprintf("s%d", i), Nodes: 1 + r.IntN(3)})
		}
		for to := 1; to < len(g.Stages); to++ {
			for from := range to {
				if r.IntN(2) > 0 {
					e := dag.Edge{From: g.Stages[from].Name, To: g.Stages[to].Name}
					e.Channel, e.Connection = dag.Channel(r.IntN(3)), dag.Connection(r.IntN(5))
					g.Edges = append(g.Edges, e)
				}
			}
		}
		if g.Validate() == nil {
			shareFiles(r, g)
			return g
		}
	}
}

// shareFiles makes about half of the edges that can do so read the files of an earlier edge.
func shareFiles(r *rand.Rand, g dag.Graph) {
	for i := range g.Edges {
		for _, owner := range g.Edges[:i] {
			if owner.From != g.Edges[i].From || owner.FilesOf != "" || r.IntN(2) == 0 {
				continue
			}
			if g.Edges[i].FilesOf = owner.To; g.Validate() == nil {
				break
			}
			g.Edges[i].FilesOf = ""
		}
	}
}

// randomCombineSets gives the writers of each per-machine edge to its readers in turn.
func randomCombineSets(g dag.Graph) []*taskproc.CombineSet {
	var combineSets []*taskproc.CombineSet
	for i, e := range g.Edges {
		if e.Connection != dag.PerMachine {
			continue
		}
		readers := g.Stages[g.StageIndex(e.To)].Nodes
		for node := range readers {
			s := &taskproc.CombineSet{Edge: int32(i), Node: int32(node)}
			for w := node; w < g.Stages[g.StageIndex(e.From)].Nodes; w += readers {
				s.Writers = append(s.Writers, int32(w))
			}
			combineSets = append(combineSets, s)
		}
	}
	return combineSets
}

func compareSeen(t *testing.T, g dag.Graph, got, want map[string][]string) {
	t.Helper()
	for node := range want {
		slices.Sort(got[node])
		slices.Sort(want[node])
		if !slices.Equal(got[node], want[node]) {
			t.Errorf("%s saw %d records, want %d, in\n%v", node, len(got[node]), len(want[node]), g)
		}
	}
}
