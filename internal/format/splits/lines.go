package splits

import (
	"context"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
)

// CutAt makes a split of each of a plain file's ranges, which follow each
// other without gaps; text.CutEvery gives such ranges.
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
