package kmeans

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math/big"
	"math/bits"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/mr"
)

// point is the coordinates of a point.
type point []decimal.Number

// farthest is the greatest distance of a coordinate from 0. It ensures that the square of
// the distance of any two points fits in 128 bits.
const farthest = 1_000_000_000 * decimal.One

// parse parses a line. It returns nil for an empty one.
func parse(line []byte) (point, error) {
	var p point
	for field := range bytes.FieldsFuncSeq(line, isBetween) {
		x, err := decimal.Parse(field)
		if err != nil {
			return nil, err
		}
		if x > farthest || x < -farthest {
			return nil, fmt.Errorf("%s: beyond %v", field, farthest)
		}
		p = append(p, x)
	}
	return p, nil
}

// read emits each point in binary form, under the offset of its line.
func read(_ *mr.Task, offset int64, line []byte, out mr.Emitter[int64, []byte]) error {
	p, err := parse(line)
	if err == nil && p != nil {
		out.Emit(offset, p.encode())
	}
	return err
}

// encode returns the coordinates in 8 bytes each.
func (p point) encode() (encoded []byte) {
	for _, x := range p {
		encoded = binary.LittleEndian.AppendUint64(encoded, uint64(x))
	}
	return encoded
}

// decode returns the point that was encoded. It reuses the memory of p.
func (p point) decode(encoded []byte) point {
	p = p[:0]
	for ; len(encoded) > 0; encoded = encoded[8:] {
		p = append(p, decimal.Number(binary.LittleEndian.Uint64(encoded)))
	}
	return p
}

// isBetween reports whether a character separates coordinates.
func isBetween(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' }

// square is the square of a distance.
type square struct{ high, low uint64 }

func (s square) less(other square) bool {
	return s.high < other.high || s.high == other.high && s.low < other.low
}

// squareTo returns the exact square of the distance. Both points have the same number of
// coordinates. The square of one difference is below 2^102, so the sum over millions of
// coordinates fits.
func (p point) squareTo(q point) (sum square) {
	for i := range p {
		d := uint64(p[i] - q[i])
		if p[i] < q[i] {
			d = -d
		}
		high, low := bits.Mul64(d, d)
		var carry uint64
		sum.low, carry = bits.Add64(sum.low, low, 0)
		sum.high, _ = bits.Add64(sum.high, high, carry)
	}
	return sum
}

// nearest returns the number of the centre nearest to p. If several are equally near, it
// returns the first.
func (p point) nearest(centres []centre) (int, error) {
	best, at := square{}, -1
	for i, c := range centres {
		if len(c.At) != len(p) {
			return 0, fmt.Errorf("point of %d coordinates among points of %d", len(p), len(c.At))
		}
		if d := p.squareTo(c.At); at < 0 || d.less(best) {
			best, at = d, i
		}
	}
	return at, nil
}

// centre is the place of a centre, and the number of points from which it was computed.
type centre struct {
	At     point
	Points int64
}

// AppendText writes the coordinates with spaces between, a tab and the number of
// points.
func (c centre) AppendText(dst []byte) ([]byte, error) {
	for i, x := range c.At {
		if i > 0 {
			dst = append(dst, ' ')
		}
		var err error
		if dst, err = x.AppendText(dst); err != nil {
			return dst, err
		}
	}
	return big.NewInt(c.Points).Append(append(dst, '\t'), 10), nil
}

// cloud is the set of points that are nearest to a centre. It keeps only their exact sum and
// their number.
type cloud struct {
	Around centre
	Sums   []sum // sum of each coordinate, in millionths
	Points int64
}

// sum is a whole number of 128 bits, High<<64 + Low. A coordinate has 50 bits at most, so no
// number of points exceeds it.
type sum struct {
	High int64
	Low  uint64
}

// plus returns s + t.
func (s sum) plus(t sum) sum {
	low, carry := bits.Add64(s.Low, t.Low, 0)
	return sum{s.High + t.High + int64(carry), low}
}

// over returns s/n, rounded down.
func (s sum) over(n int64) decimal.Number {
	all := new(big.Int).Lsh(big.NewInt(s.High), 64)
	all.Add(all, new(big.Int).SetUint64(s.Low))
	return decimal.Number(all.Div(all, big.NewInt(n)).Int64())
}

// add adds a point to the cloud.
func (c *cloud) add(p point) {
	for i, x := range p {
		c.Sums[i] = c.Sums[i].plus(sum{int64(x) >> 63, uint64(x)})
	}
	c.Points++
}

// join adds the points of another cloud around the same centre.
func (c cloud) join(other cloud) cloud {
	for i := range c.Sums {
		c.Sums[i] = c.Sums[i].plus(other.Sums[i])
	}
	c.Points += other.Points
	return c
}

// middle emits the centre of a cloud, rounded down. The centre of a cloud without points
// stays in its place.
func middle(_ *mr.Task, number int64, clouds iter.Seq[cloud], out mr.Emitter[int64, centre]) error {
	var all cloud
	for c := range clouds {
		if all.Sums == nil {
			all = c
			continue
		}
		all = all.join(c)
	}
	next := centre{At: all.Around.At, Points: all.Points}
	if all.Points > 0 {
		next.At = make(point, len(all.Sums))
		for i, sum := range all.Sums {
			next.At[i] = sum.over(all.Points)
		}
	}
	out.Emit(number, next)
	return nil
}
