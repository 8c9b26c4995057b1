package kmeans

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/mr"
)

// cloud is a set of points around a centre: the sum of each coordinate, in millionths, and the
// number of points, in 8 bytes each. A point is a cloud of itself. A cloud without points has
// the place where its centre stays.
type cloud []byte

// farthest is the greatest distance of a coordinate from 0. A float64 is exact up to there.
const farthest = 1_000_000_000 * decimal.One

// parse emits the point of a line under its hash, so that points in order of key are spread over
// the input.
func parse(_ *mr.Task, _ int64, line []byte, out mr.Emitter[uint64, cloud]) error {
	p := make(cloud, 0, 4*len(line)+16)
	for field := range bytes.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' }) {
		x, err := decimal.Parse(field)
		if err == nil && (x > farthest || x < -farthest) {
			err = fmt.Errorf("%s: beyond %v", field, farthest)
		}
		if err != nil {
			return err
		}
		p = binary.LittleEndian.AppendUint64(p, uint64(x))
	}
	if len(p) > 0 {
		p = binary.LittleEndian.AppendUint64(p, 1)
		h := fnv.New64a()
		_, _ = h.Write(p) // never fails
		out.Emit(h.Sum64(), p)
	}
	return nil
}

func (c cloud) dimensions() int    { return len(c)/8 - 1 }
func (c cloud) number(i int) int64 { return int64(binary.LittleEndian.Uint64(c[8*i:])) }
func (c cloud) set(i int, n int64) { binary.LittleEndian.PutUint64(c[8*i:], uint64(n)) }
func (c cloud) points() int64      { return c.number(c.dimensions()) }

// centre returns the cloud without points at the centre of c. Its coordinates are rounded down.
func (c cloud) centre() cloud {
	centre := make(cloud, len(c))
	for i := range c.dimensions() {
		sum, n := c.number(i), max(c.points(), 1)
		if centre.set(i, sum/n); sum%n < 0 {
			centre.set(i, sum/n-1)
		}
	}
	return centre
}

// AppendText writes the coordinates of the centre with spaces between, a tab and the number of
// points.
func (c cloud) AppendText(dst []byte) ([]byte, error) {
	centre := c.centre()
	for i := range c.dimensions() {
		dst = fmt.Append(dst, decimal.Number(centre.number(i)), " ")
	}
	return strconv.AppendInt(append(dst[:len(dst)-1], '\t'), c.points(), 10), nil
}

// join adds the points of another cloud around the same centre.
func (c cloud) join(other cloud) cloud {
	if other.points() == 0 {
		return c
	}
	if c.points() == 0 {
		clear(c)
	}
	for i := range len(c) / 8 {
		a, b := c.number(i), other.number(i)
		if a+b < a != (b < 0) {
			panic(fmt.Errorf("sum of coordinates around one centre beyond %v", decimal.Number(math.MaxInt64)))
		}
		c.set(i, a+b)
	}
	return c
}

// appendFloats appends the coordinates, and a 0 if their number is odd.
func (c cloud) appendFloats(dst []float64) []float64 {
	for i := range c.dimensions() {
		dst = append(dst, float64(c.number(i)))
	}
	return append(dst, 0)[:len(dst)+len(dst)%2]
}

// assign adds each point to the cloud around the nearest centre, and emits the clouds in Close.
type assign struct {
	before *mr.Side[uint64, cloud] // the centres of the previous round
	clouds []cloud                 // of each centre
	places [][]float64             // of each centre
	point  []float64               // scratch
}

// Setup implements mr.Setup.
func (a *assign) Setup(t *mr.Task) error {
	for _, c := range a.before.All(t) {
		a.clouds = append(a.clouds, c.centre())
		a.places = append(a.places, c.centre().appendFloats(nil))
	}
	return nil
}

// Map implements mr.Mapper.
func (a *assign) Map(_ *mr.Task, _ uint64, p cloud, _ mr.Emitter[uint64, cloud]) error {
	for _, c := range a.clouds {
		if len(c) != len(p) {
			return fmt.Errorf("point of %d coordinates among points of %d", p.dimensions(), c.dimensions())
		}
	}
	a.point = p.appendFloats(a.point[:0])
	a.clouds[nearest(a.point, a.places)].join(p)
	return nil
}

// nearest returns the number of the place nearest to a point, the first of several. It adds
// squares in the order of the coordinates. The conversions keep a processor from fusing a square
// with the sum, so all machines find the same place.
func nearest(point []float64, places [][]float64) (at int) {
	best := math.Inf(1)
	for n, place := range places {
		square := 0.0
		place = place[:len(point)]
		for i := 1; i < len(point); i += 2 {
			d, e := point[i-1]-place[i-1], point[i]-place[i]
			square += float64(d*d) + float64(e*e)
		}
		if square < best {
			best, at = square, n
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
