package mincost

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
)

// check verifies that the flow is valid (what enters a vertex leaves it) and optimal: no arc
// with residual capacity has a negative reduced cost.
func check(t testing.TB, n *Network) {
	t.Helper()
	balance := make([]int64, len(n.vertices))
	for v, node := range n.vertices {
		balance[v] += node.supply
		for i, a := range node.arcs {
			if (n.arcs[a].residual > 0) != (i < node.open) || int(n.arcs[a].at) != i {
				t.Fatalf("vertex %d: arc %d with residual capacity %d is at %d of %d open", v, a, n.arcs[a].residual, i, node.open)
			}
			if n.arcs[a].residual < 0 {
				t.Fatalf("arc %d has residual capacity %d", a, n.arcs[a].residual)
			}
			if n.arcs[a].residual > 0 && n.reduced(a) < 0 {
				t.Fatalf("arc %d has residual capacity %d at reduced cost %d", a, n.arcs[a].residual, n.reduced(a))
			}
			if a&1 == 0 {
				balance[v] -= n.Flow(a)
				balance[n.arcs[a].to] += n.Flow(a)
			}
		}
	}
	for v := range n.vertices {
		if Vertex(v) != Sink && balance[v] != n.vertices[v].balance {
			t.Fatalf("node %d keeps %d units, its balance is %d", v, balance[v], n.vertices[v].balance)
		}
	}
}

// choice is a problem small enough to try every solution: each task takes one of the places
// for which it has a cost, or stays unscheduled at a cost.
type choice struct {
	slots []int
	costs [][]int64 // by task, then place; -1: not allowed
	stay  int64
}

func randomChoice(r *rand.Rand) choice {
	c := choice{stay: r.Int64N(20)}
	for range 1 + r.IntN(4) {
		c.slots = append(c.slots, r.IntN(3))
	}
	for range r.IntN(7) {
		costs := make([]int64, len(c.slots))
		for i := range costs {
			costs[i] = r.Int64N(12) - 1
		}
		c.costs = append(c.costs, costs)
	}
	return c
}

// tryAll returns the lowest cost of all choices.
func (c choice) tryAll(task int, free []int) int64 {
	if task == len(c.costs) {
		return 0
	}
	best := c.stay + c.tryAll(task+1, free)
	for place, cost := range c.costs[task] {
		if cost >= 0 && free[place] > 0 {
			free[place]--
			best = min(best, cost+c.tryAll(task+1, free))
			free[place]++
		}
	}
	return best
}

func (c choice) network() *Network { return c.lay(New()) }

// lay builds the network of the problem in an empty network.
func (c choice) lay(n *Network) *Network {
	var places []Vertex
	for _, slots := range c.slots {
		places = append(places, n.AddVertex())
		n.AddArc(places[len(places)-1], Sink, int64(slots), 0)
	}
	for _, costs := range c.costs {
		task := n.AddVertex()
		for place, cost := range costs {
			if cost >= 0 {
				n.AddArc(task, places[place], 1, cost)
			}
		}
		n.AddArc(task, Sink, 1, c.stay)
		n.AddSupply(task, 1)
	}
	return n
}

// TestNetworkIsReusable solves one problem after another in the same network, and expects
// the flow of a new network each time.
func TestNetworkIsReusable(t *testing.T) {
	again := New()
	for seed := range testlevel.Seeds(400, 6000) {
		c := randomChoice(rand.New(rand.NewPCG(seed, 2)))
		again.Reset()
		c.lay(again).Solve()
		n := c.network()
		n.Solve()
		check(t, again)
		if again.Cost() != n.Cost() || len(again.vertices) != len(n.vertices) || len(again.arcs) != len(n.arcs) {
			t.Fatalf("seed %d: costs %d, and %d in a new network", seed, again.Cost(), n.Cost())
		}
		for a := range n.arcs {
			if again.arcs[a].residual != n.arcs[a].residual {
				t.Fatalf("seed %d: arc %d has residual capacity %d, and %d in a new network", seed, a, again.arcs[a].residual, n.arcs[a].residual)
			}
		}
	}
}

func TestSolveFindsWhatTryingAllFinds(t *testing.T) {
	for seed := range testlevel.Seeds(600, 9000) {
		c := randomChoice(rand.New(rand.NewPCG(seed, 0)))
		n := c.network()
		if unrouted := n.Solve(); unrouted != 0 {
			t.Fatalf("seed %d: %d units stay", seed, unrouted)
		}
		check(t, n)
		if got, want := n.Cost(), c.tryAll(0, slices.Clone(c.slots)); got != want {
			t.Fatalf("seed %d: cost %d, trying all gives %d", seed, got, want)
		}
	}
}

// graph is a random network as plain values, so that it can be built again.
type graph struct {
	nodes  int // without the sink
	arcs   [][4]int64
	supply []int64
}

func randomGraph(r *rand.Rand) graph {
	g := graph{nodes: 1 + r.IntN(8)}
	g.supply = make([]int64, g.nodes)
	for range r.IntN(25) {
		g.arcs = append(g.arcs, randomArc(r, g.nodes))
	}
	for i := range g.supply {
		g.supply[i] = r.Int64N(4)
	}
	return g
}

func randomArc(r *rand.Rand, nodes int) [4]int64 {
	capacity := r.Int64N(5)
	if r.IntN(6) == 0 {
		capacity = Unbounded
	}
	return [4]int64{1 + r.Int64N(int64(nodes)), r.Int64N(int64(nodes + 1)), capacity, r.Int64N(10)}
}

func (g graph) build() (*Network, []Arc) {
	n := New()
	for range g.nodes {
		n.AddVertex()
	}
	var arcs []Arc
	for _, a := range g.arcs {
		arcs = append(arcs, n.AddArc(Vertex(a[0]), Vertex(a[1]), a[2], a[3]))
	}
	for i, units := range g.supply {
		n.AddSupply(Vertex(i+1), units)
	}
	return n, arcs
}

// routable returns how many units can reach the sink, by the simplest method: one unit at a
// time along any path.
func (g graph) routable() (units int64) {
	residual := make(map[[2]int64]int64)
	for _, a := range g.arcs {
		residual[[2]int64{a[0], a[1]}] += min(a[2], 1000)
	}
	for i, s := range g.supply {
		residual[[2]int64{-1, int64(i + 1)}] = s
	}
	for augment(residual, g.nodes, -1, map[int64]bool{}) {
		units++
	}
	return units
}

func augment(residual map[[2]int64]int64, nodes int, v int64, seen map[int64]bool) bool {
	if v == 0 {
		return true
	}
	seen[v] = true
	for w := range int64(nodes + 1) {
		if !seen[w] && residual[[2]int64{v, w}] > 0 && augment(residual, nodes, w, seen) {
			residual[[2]int64{v, w}]--
			residual[[2]int64{w, v}]++
			return true
		}
	}
	return false
}

func TestSolveRoutesAllThatCanBe(t *testing.T) {
	for seed := range testlevel.Seeds(600, 9000) {
		g := randomGraph(rand.New(rand.NewPCG(seed, 1)))
		n, _ := g.build()
		unrouted := n.Solve()
		check(t, n)
		var total int64
		for _, s := range g.supply {
			total += s
		}
		if got, want := total-unrouted, g.routable(); got != want {
			t.Fatalf("seed %d: %d units routed, %d can be: %+v", seed, got, want, g)
		}
	}
}

// TestChangedNetworkEqualsNewNetwork changes a solved network in every way and compares it
// with a new network of the same values.
func TestChangedNetworkEqualsNewNetwork(t *testing.T) {
	for seed := range testlevel.Seeds(400, 4500) {
		r := rand.New(rand.NewPCG(seed, 2))
		g := randomGraph(r)
		for i := range g.nodes { // every unit can be routed, so the optimal cost is unique
			g.arcs = append(g.arcs, [4]int64{int64(i + 1), 0, Unbounded, 50})
		}
		n, arcs := g.build()
		for step := range 12 {
			arcs = g.change(r, n, arcs)
			if r.IntN(3) == 0 {
				continue
			}
			unrouted := n.Solve()
			check(t, n)
			cold, _ := g.build()
			if u := cold.Solve(); u != unrouted || cold.Cost() != n.Cost() {
				t.Fatalf("seed %d, step %d: cost %d with %d waiting, cold %d with %d", seed, step, n.Cost(), unrouted, cold.Cost(), u)
			}
		}
	}
}

// change applies the same change to the values and to the network.
func (g *graph) change(r *rand.Rand, n *Network, arcs []Arc) []Arc {
	i := r.IntN(len(arcs))
	switch r.IntN(5) {
	case 0:
		more := r.Int64N(4) - 2
		v := r.IntN(g.nodes)
		g.supply[v] = max(g.supply[v]+more, 0)
		n.AddSupply(Vertex(v+1), more)
	case 1, 2:
		if g.arcs[i][3] != 50 {
			g.arcs[i][2] = r.Int64N(5)
			n.SetCapacity(arcs[i], g.arcs[i][2])
		}
	case 3:
		a := randomArc(r, g.nodes)
		g.arcs = append(g.arcs, a)
		arcs = append(arcs, n.AddArc(Vertex(a[0]), Vertex(a[1]), a[2], a[3]))
	case 4:
		g.nodes++
		g.supply = append(g.supply, r.Int64N(3))
		v := n.AddVertex()
		for _, a := range [][4]int64{{int64(v), 0, Unbounded, 50}, {int64(v), 0, r.Int64N(4), 1}, {1 + r.Int64N(int64(v)), int64(v), Unbounded, r.Int64N(9)}} {
			g.arcs = append(g.arcs, a)
			arcs = append(arcs, n.AddArc(Vertex(a[0]), Vertex(a[1]), a[2], a[3]))
		}
		n.AddSupply(v, g.supply[v-1])
	}
	return arcs
}

func TestRemove(t *testing.T) {
	n := New()
	slot := n.AddVertex()
	n.AddArc(slot, Sink, 1, 0)
	var tasks []Vertex
	for i := range 3 {
		task := n.AddVertex()
		n.AddArc(task, slot, 1, int64(i))
		n.AddArc(task, Sink, 1, 10)
		n.AddSupply(task, 1)
		tasks = append(tasks, task)
	}
	n.Solve()
	if n.Cost() != 20 || n.Remove(tasks[0]) {
		t.Fatalf("cost %d, or a task was removed with a unit on its way", n.Cost())
	}
	n.AddSupply(tasks[0], -1)
	n.Solve()
	check(t, n)
	if !n.Remove(tasks[0]) || n.Cost() != 11 {
		t.Fatalf("cost %d without the first task, want 11", n.Cost())
	}
	if again := n.AddVertex(); again != tasks[0] {
		t.Errorf("the node's number is not used again: %d", again)
	}
	trace := n.Trace()
	if last := trace.Last(tasks[1]); last != slot {
		t.Errorf("the second task goes through %d, want %d", last, slot)
	}
	if last := trace.Last(tasks[2]); last != tasks[2] {
		t.Errorf("the third task goes through %d, want the sink at once", last)
	}
}

func TestSameCallsGiveTheSameFlow(t *testing.T) {
	flows := func() string {
		p := hotCluster(40, 3, 110)
		p.network.Solve()
		for range 20 {
			p.addTask()
			p.removeTask()
			p.network.Solve()
		}
		check(t, p.network)
		var out []int64
		for a := 0; a < len(p.network.arcs); a += 2 {
			out = append(out, p.network.Flow(Arc(a)))
		}
		return fmt.Sprint(out)
	}
	first := flows()
	for range 5 {
		if again := flows(); again != first {
			t.Fatal("two runs differ")
		}
	}
}
