package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/input"
	"github.com/hammr/hammr/storage"
)

// lookBehind returns the offset at which to begin reading. Dividing the bytes from there
// into records must give the same records, at and after the range's start, as dividing the
// whole file.
//
// For line ends the offset is one byte before the start. For a delimiter it is the
// delimiter's length before the start, unless the delimiter can overlap itself. In
// "a\n\n\nb" with the delimiter "\n\n" only the first two LFs end a record, but the last two
// alone look like a delimiter. In that case the offset is the start of the chain of
// overlapping delimiters that reaches the start; the first delimiter of a chain always
// counts.
func lookBehind(ctx context.Context, o format.Open, delim []byte) (int64, error) {
	start := o.Range.Start.Offset
	if start <= 0 {
		return 0, nil
	}
	width := int64(max(1, len(delim)))
	from := max(0, min(start, o.Size)-width)
	if from == 0 || !overlapsItself(delim) {
		return from, nil
	}
	f, err := o.FS.Open(ctx, o.Path)
	if err != nil {
		return 0, err
	}
	from, err = chainStart(f, delim, from)
	if err != nil {
		err = fmt.Errorf("%s: looking for a delimiter before byte %d: %w", input.Name(o), start, err)
	}
	return from, errors.Join(err, f.Close())
}

// chainWindow is the number of bytes in one read. A longer chain takes several reads, which
// is rare.
const chainWindow = 64 << 10

// chainStart returns the start of the chain of overlapping delimiters that covers the offset
// at. If there is none, it returns at.
func chainStart(f storage.File, delim []byte, at int64) (int64, error) {
	width := int64(len(delim))
	for at > 0 {
		low := max(0, at-chainWindow)
		window := make([]byte, at+width-1-low)
		n, err := f.ReadAt(window, low)
		if err != nil && err != io.EOF {
			return 0, err
		}
		start := chainStartIn(window[:n], delim, int(at-low))
		at = low + int64(start)
		if start >= len(delim) || low == 0 {
			break // no delimiter that begins before the window reaches start
		}
	}
	return at, nil
}

// chainStartIn does what chainStart does, within a window of the file. It does not see a
// delimiter that begins before the window; the caller then looks at the previous window.
func chainStartIn(window, delim []byte, at int) int {
	for {
		low := max(0, at-len(delim)+1)
		high := min(len(window), at+len(delim)-1)
		i := bytes.Index(window[low:max(low, high)], delim)
		if i < 0 || low+i >= at {
			return at
		}
		at = low + i
	}
}
