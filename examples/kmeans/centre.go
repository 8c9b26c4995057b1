package kmeans

import (
	"iter"
	"math/big"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/mr"
)

// centre is where a centre is, and how many points were nearest to the one that
// it was made of.
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

// cloud is the points that are nearest to a centre: their sum, exact however many
// there are.
type cloud struct {
	Around centre
	Sums   []*big.Int // by coordinate, in millionths
	Points int64
}

func cloudAround(c centre) cloud {
	sums := make([]*big.Int, len(c.At))
	for i := range sums {
		sums[i] = new(big.Int)
	}
	return cloud{Around: c, Sums: sums}
}

// add takes in a point.
func (c *cloud) add(p point) {
	var x big.Int
	for i := range p {
		c.Sums[i].Add(c.Sums[i], x.SetInt64(int64(p[i])))
	}
	c.Points++
}

// join takes in the points of another cloud around the same centre.
func (c cloud) join(other cloud) cloud {
	for i := range c.Sums {
		c.Sums[i].Add(c.Sums[i], other.Sums[i])
	}
	c.Points += other.Points
	return c
}

// middle is the centre of a cloud, rounded down; one without points stays where it
// was.
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
	if n := big.NewInt(all.Points); all.Points > 0 {
		next.At = make(point, len(all.Sums))
		for i, sum := range all.Sums {
			next.At[i] = decimal.Number(new(big.Int).Div(sum, n).Int64())
		}
	}
	out.Emit(number, next)
	return nil
}
