package splits

import (
	"context"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
)

// CutAt creates a split for each of the ranges of a plain file. The ranges are contiguous;
// text.CutEvery returns such ranges.
func CutAt(ctx context.Context, input int32, f File, ranges []dag.Range) ([]*taskproc.Split, error) {
	blocks, err := lookUp(ctx, 1, []File{f})
	if err != nil {
		return nil, err
	}
	c := cutter{opts: Options{Input: input}}
	for _, r := range ranges {
		end := min(r.End.Offset, f.Info.Size)
		c.emit(f, r.Start.Offset, end-r.Start.Offset, blocks[0])
	}
	return c.splits, nil
}
