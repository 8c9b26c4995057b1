package kmeans

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/hammr/hammr/examples/internal/decimal"
)

// point is the coordinates of a point.
type point []decimal.Number

// farthest is how far from 0 a coordinate may be, so that the square of the
// distance of any two points fits in 128 bits.
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

func isBetween(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' }

// square is the square of a distance.
type square struct{ high, low uint64 }

func (s square) less(other square) bool {
	return s.high < other.high || s.high == other.high && s.low < other.low
}

// squareTo is exact. The points have as many coordinates.
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

// nearest is the number of the centre nearest to p; of several, the first.
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
