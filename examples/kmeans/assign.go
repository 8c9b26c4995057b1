package kmeans

import (
	"fmt"
	"math"
	"slices"

	"github.com/hammr/hammr/mr"
)

// assign adds each point to the cloud around the nearest centre, and emits the clouds in Close.
type assign struct {
	before *mr.Side[uint64, cloud] // the centres of the previous round
	clouds []cloud                 // of each centre
	places []float64               // of one centre after the other
	point  []float64               // scratch
}

// Setup implements mr.Setup.
func (a *assign) Setup(t *mr.Task) error {
	for _, c := range a.before.All(t) {
		if a.clouds == nil {
			a.point = make([]float64, c.dimensions())
		}
		if err := a.check(c); err != nil {
			return err
		}
		empty := make(cloud, len(c))
		for i := range a.point {
			empty.set(i, int64(c.place(i)))
			a.places = append(a.places, float64(c.place(i)))
		}
		a.clouds = append(a.clouds, empty)
	}
	return nil
}

func (a *assign) check(c cloud) error {
	if c.dimensions() != len(a.point) {
		return fmt.Errorf("point of %d coordinates among points of %d", c.dimensions(), len(a.point))
	}
	return nil
}

// Map implements mr.Mapper.
func (a *assign) Map(_ *mr.Task, _ uint64, p cloud, _ mr.Emitter[uint64, cloud]) error {
	if err := a.check(p); err != nil {
		return err
	}
	for i := range a.point {
		a.point[i] = float64(p.number(i))
	}
	a.clouds[a.nearest()].join(p)
	return nil
}

// nearest returns the number of the centre nearest to the point. If several are equally near, it
// returns the first. The squares are added in the order of the coordinates, and never fused with
// the addition, so each machine finds the same.
func (a *assign) nearest() (at int) {
	best := math.Inf(1)
	for n := range a.clouds {
		sum := 0.0
		place := a.places[n*len(a.point):][:len(a.point)]
		for i, x := range a.point {
			d := x - place[i]
			sum += float64(d * d)
		}
		if sum < best {
			best, at = sum, n
		}
	}
	return at
}

// Close implements mr.Closer.
func (a *assign) Close(_ *mr.Task, out mr.Emitter[uint64, cloud]) error {
	for n, c := range a.clouds {
		out.Emit(uint64(n), c)
	}
	return nil
}

// Save implements mr.Stateful.
func (a *assign) Save() ([]byte, error) { return slices.Concat(a.clouds...), nil }

// Load implements mr.Stateful.
func (a *assign) Load(saved []byte) error {
	for _, c := range a.clouds {
		saved = saved[copy(c, saved):]
	}
	return nil
}
