package kmeans

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
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
	for field := range bytes.FieldsFuncSeq(line, isBetween) {
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

// isBetween reports whether a character separates coordinates.
func isBetween(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' }

func (c cloud) dimensions() int    { return len(c)/8 - 1 }
func (c cloud) number(i int) int64 { return int64(binary.LittleEndian.Uint64(c[8*i:])) }
func (c cloud) points() int64      { return c.number(c.dimensions()) }
func (c cloud) set(i int, n int64) { binary.LittleEndian.PutUint64(c[8*i:], uint64(n)) }

// place returns a coordinate of the centre, rounded down.
func (c cloud) place(i int) decimal.Number {
	sum, n := c.number(i), max(c.points(), 1)
	if sum%n < 0 {
		return decimal.Number(sum/n - 1)
	}
	return decimal.Number(sum / n)
}

// AppendText writes the coordinates of the centre with spaces between, a tab and the number of
// points.
func (c cloud) AppendText(dst []byte) ([]byte, error) {
	for i := range c.dimensions() {
		dst = fmt.Append(dst, c.place(i), " ")
	}
	dst[len(dst)-1] = '\t'
	return strconv.AppendInt(dst, c.points(), 10), nil
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
