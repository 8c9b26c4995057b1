package shuffle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hammr/hammr/storage"
)

// OpenRange opens the bytes [offset, offset+length) of a data file.
type OpenRange func(ctx context.Context, offset, length int64) (io.ReadCloser, error)

// CopyRest writes the rest of a run to w: the block of position from and all blocks after
// it, preceded by the table of ranks if the run is tagged. It reads nothing else, and
// verifies each block. It returns the run as written to w, and the position in it.
//
//	run  | table | block | block | block | block |
//	                         ^ from
//	w    | table |         block | block | block |
//	                         ^ position returned
//
// CopyRest moves a checkpoint to another machine without the records that are already
// merged.
//
// An error of the run is a *SourceError. Any other error is from w or ctx.
func CopyRest(ctx context.Context, open OpenRange, w io.Writer, run Run, from RunPosition) (Run, RunPosition, error) {
	c := restCopy{open: open, run: run, sink: w}
	spans, err := c.spans(ctx, from)
	if err != nil {
		return Run{}, RunPosition{}, c.blame(ctx, err)
	}
	for _, s := range spans {
		c.verifier.run.Length += s.end - s.start
	}
	for _, s := range spans {
		if err := c.copy(ctx, s); err != nil {
			return Run{}, RunPosition{}, c.blame(ctx, err)
		}
	}
	rest, err := c.result()
	if err != nil {
		return Run{}, RunPosition{}, c.blame(ctx, err)
	}
	from.BlockOffset -= run.Length - rest.Length
	return rest, from, nil
}

// restCopy is one call of CopyRest. It is the io.Writer that the bytes of the run pass
// through.
type restCopy struct {
	open     OpenRange // opens the run's data file
	run      Run       // the run as its index describes it
	sink     io.Writer
	sinkErr  error       // error of the sink; distinguishes it from errors of the run
	verifier runVerifier // verifies the copied bytes as one run
}

// byteRange is a range of bytes of a run, counted from its start.
type byteRange struct{ start, end int64 }

// spans returns the parts of the run to copy: one, or two if the table of a tagged run is
// not adjacent to the rest.
func (c *restCopy) spans(ctx context.Context, from RunPosition) ([]byteRange, error) {
	run, at := c.run, from.BlockOffset
	if run.Offset < 0 || run.Length < 0 || at < 0 || at > run.Length || from.Record < 0 {
		return nil, fmt.Errorf("%w: no position %d in the run", storage.ErrCorrupt, at)
	}
	if at == 0 || !run.Tagged {
		return []byteRange{{at, run.Length}}, nil
	}
	table, err := c.tableEnd(ctx)
	if err != nil {
		return nil, err
	}
	if at <= table {
		return []byteRange{{0, run.Length}}, nil
	}
	return []byteRange{{0, table}, {at, run.Length}}, nil
}

// tableEnd returns where the first block of the run ends. It reads only the header of this
// block.
func (c *restCopy) tableEnd(ctx context.Context) (int64, error) {
	if c.run.Length < blockHeaderSize {
		return 0, fmt.Errorf("%w: run of %d bytes is shorter than a block header", storage.ErrCorrupt, c.run.Length)
	}
	in, err := c.open(ctx, c.run.Offset, blockHeaderSize)
	if err != nil {
		return 0, err
	}
	var head [blockHeaderSize]byte
	_, err = io.ReadFull(in, head[:])
	if err = errors.Join(earlyEOF(err), in.Close()); err != nil {
		return 0, err
	}
	h, err := parseBlockHeader(head[:], c.run.Length-blockHeaderSize)
	return int64(blockHeaderSize + h.stored), err
}

// earlyEOF turns an early end into an error of the data.
func earlyEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: data ends early", storage.ErrCorrupt)
	}
	return err
}

// copy verifies and writes a part of the run.
func (c *restCopy) copy(ctx context.Context, s byteRange) error {
	if s.start == s.end {
		return nil
	}
	in, err := c.open(ctx, c.run.Offset+s.start, s.end-s.start)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(c, io.LimitReader(in, s.end-s.start), make([]byte, remoteChunk))
	return errors.Join(err, in.Close())
}

// Write implements io.Writer: it verifies the next bytes of the run and passes them on.
func (c *restCopy) Write(b []byte) (int, error) {
	if n, err := c.verifier.Write(b); err != nil {
		return n, err
	}
	n, err := c.sink.Write(b)
	c.sinkErr = err
	return n, err
}

// result describes what was copied. A run that was copied as a whole is also compared with
// its entry in the index.
func (c *restCopy) result() (Run, error) {
	v := &c.verifier
	rest := Run{Length: v.run.Length, RawLength: v.counts.raw, Records: v.counts.records, Checksum: v.counts.checksum, Tagged: c.run.Tagged}
	v.run = rest
	if rest.Length == c.run.Length {
		v.run = c.run
	}
	return rest, v.finish()
}

// blame attributes an error to the run, unless it is from the sink or ctx.
func (c *restCopy) blame(ctx context.Context, err error) error {
	switch {
	case c.sinkErr != nil:
		return c.sinkErr
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &SourceError{Run: c.run, Err: err}
}
