package kmeans

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"

	"github.com/hammr/hammr/mr"
)

// seed is a point that may be a centre of the first round: a hash of its line, then the
// line. The seeds with the least hashes are chosen, so they are spread over the input
// whatever its order.
type seed = mr.Pair[uint64, string]

// seedOf hashes the text of the coordinates, so equal points have equal seeds and count once.
func seedOf(p point) seed {
	text, _ := centre{At: p}.AppendText(nil) // never fails
	h := fnv.New64a()
	_, _ = h.Write(text) // never fails
	return seed{First: h.Sum64(), Second: string(text[:len(text)-len("\t0")])}
}

// compareSeeds orders seeds as the keys of the stage are ordered.
func compareSeeds(a, b seed) int {
	return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second))
}

// sample keeps the least seeds among the points that one Node reads. The memory is bounded by
// most seeds, however long the input is.
type sample struct {
	most  int
	seeds []seed // in order
	point point  // scratch
}

// Map implements mr.Mapper.
func (s *sample) Map(_ *mr.Task, _ int64, encoded []byte, _ mr.Emitter[seed, struct{}]) error {
	s.point = s.point.decode(encoded)
	this := seedOf(s.point)
	at, known := slices.BinarySearchFunc(s.seeds, this, compareSeeds)
	if known || at == s.most {
		return nil
	}
	s.seeds = slices.Insert(s.seeds, at, this)
	s.seeds = s.seeds[:min(len(s.seeds), s.most)]
	return nil
}

// Close implements mr.Closer.
func (s *sample) Close(_ *mr.Task, out mr.Emitter[seed, struct{}]) error {
	for _, this := range s.seeds {
		out.Emit(this, struct{}{})
	}
	return nil
}

// Save implements mr.Stateful.
func (s *sample) Save() ([]byte, error) { return json.Marshal(s.seeds) }

// Load implements mr.Stateful.
func (s *sample) Load(saved []byte) error { return json.Unmarshal(saved, &s.seeds) }

// choose makes centres of the least seeds. The stage has one Node, which sees all seeds in
// order.
type choose struct {
	most   int
	chosen int64
}

// Reduce implements mr.Reducer.
func (c *choose) Reduce(_ *mr.Task, this seed, _ iter.Seq[struct{}], out mr.Emitter[int64, centre]) error {
	if c.chosen == int64(c.most) {
		return nil
	}
	p, err := parse([]byte(this.Second))
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	out.Emit(c.chosen, centre{At: p})
	c.chosen++
	return nil
}

// Save implements mr.Stateful.
func (c *choose) Save() ([]byte, error) { return json.Marshal(c.chosen) }

// Load implements mr.Stateful.
func (c *choose) Load(saved []byte) error { return json.Unmarshal(saved, &c.chosen) }

// assign adds each point to the cloud around the nearest centre. It emits the clouds in Close,
// one for each centre, instead of a record for each point. Its state is saved in a checkpoint,
// since Close would otherwise miss the points before it.
type assign struct {
	before  *mr.Side[int64, centre]
	centres []centre
	clouds  []cloud
	point   point // scratch
}

// Setup implements mr.Setup. It reads the centres of the previous round.
func (a *assign) Setup(t *mr.Task) error {
	for _, c := range a.before.All(t) {
		a.centres = append(a.centres, c)
		a.clouds = append(a.clouds, cloud{Around: c, Sums: make([]sum, len(c.At))})
	}
	return nil
}

// Map implements mr.Mapper.
func (a *assign) Map(_ *mr.Task, _ int64, encoded []byte, _ mr.Emitter[int64, cloud]) error {
	a.point = a.point.decode(encoded)
	at, err := a.point.nearest(a.centres)
	if err != nil {
		return err
	}
	a.clouds[at].add(a.point)
	return nil
}

// Close implements mr.Closer.
func (a *assign) Close(_ *mr.Task, out mr.Emitter[int64, cloud]) error {
	for number, c := range a.clouds {
		out.Emit(int64(number), c)
	}
	return nil
}

// Save implements mr.Stateful.
func (a *assign) Save() ([]byte, error) { return json.Marshal(a.clouds) }

// Load implements mr.Stateful.
func (a *assign) Load(saved []byte) error {
	a.clouds = nil
	return json.Unmarshal(saved, &a.clouds)
}
