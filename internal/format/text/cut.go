package text

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/format"
)

// CutEvery reads o's range once and cuts it into ranges of n records each, the
// last one of what is left: Hadoop's NLineInputFormat. The ranges join without
// gaps from the start to the end of o's range.
func CutEvery(ctx context.Context, n int, o format.Open, lines format.Opener) ([]dag.Range, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d lines a split: must be at least 1", n)
	}
	r, err := lines(ctx, o)
	if err != nil {
		return nil, err
	}
	var ranges []dag.Range
	start := o.Range.Start
	for i := 0; r.Next(); i++ {
		if i > 0 && i%n == 0 {
			ranges = append(ranges, dag.Range{Start: start, End: r.Position()})
			start = r.Position()
		}
	}
	ranges = append(ranges, dag.Range{Start: start, End: o.Range.End})
	return ranges, errors.Join(r.Err(), r.Close())
}
