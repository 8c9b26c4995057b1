package text

import (
	"context"

	"github.com/hammr/hammr/internal/format"
	"github.com/hammr/hammr/internal/format/bzip2"
	"github.com/hammr/hammr/internal/format/input"
)

// openBlocks opens a bzip2 file at the first block of the range. What comes
// before the first delimiter there belongs to the block before.
func openBlocks(ctx context.Context, o format.Open, delim []byte) (format.Reader, error) {
	from := o.Range.Start.Offset
	if bzip2.First(from) {
		from = 0
	}
	source, err := input.OpenRaw(ctx, o, from)
	if err != nil {
		return nil, err
	}
	blocks := bzip2.NewReader(input.Name(o), source, from)
	r := newStreamReader(o, delim, &bzip2Source{blocks, source, from})
	if from > 0 {
		r.scan.skip()
	}
	return r, nil
}

// bzip2Source is the blocks of a bzip2 file and the file.
type bzip2Source struct {
	*bzip2.Reader
	file *input.Source
	from int64 // bytes
}

func (s *bzip2Source) Consumed() int64 { return s.Offset() - s.from }
func (s *bzip2Source) Close() error    { return s.file.Close() }
