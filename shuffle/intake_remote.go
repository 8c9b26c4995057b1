package shuffle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/hammr/hammr/storage"
)

// OpenRun opens the bytes of a run at its source. Reads fail once ctx ends. The caller does
// not read beyond run.Length.
type OpenRun func(ctx context.Context, run Run) (io.ReadCloser, error)

// SourceError reports that a run cannot be read from its source. The source does not open,
// ends early, or has wrong bytes (then the error wraps storage.ErrCorrupt). The intake is
// not affected.
type SourceError struct {
	Run Run
	Err error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("run of %d bytes at offset %d: %v", e.Run.Length, e.Run.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// remoteChunk is how many bytes are read before they are verified, while they are still in
// the processor's cache.
const remoteChunk = 256 << 10

// AddRemote adds the runs of one map's output from another machine, all or none. After an
// error it keeps none of them, and the caller may add them again. It opens the runs once the
// intake has space for all of them, and verifies what it reads.
//
// An error of the source is a *SourceError. Any other error is from the intake or from ctx.
func (in *Intake) AddRemote(ctx context.Context, runs []Run, ordinal Ordinal, open OpenRun) error {
	total, err := totalBytes(runs)
	if err != nil {
		return err
	}
	if err := in.flushIfFull(ctx); err != nil {
		return err
	}
	a := arrival{in: in, ordinal: ordinal, open: open, inMemory: in.keepInMemory(total)}
	if a.inMemory {
		if a.reserved, err = in.reserve(ctx, total); err != nil {
			return err
		}
	}
	a.unused = a.reserved
	for _, run := range runs {
		if err := a.receive(ctx, run); err != nil {
			return errors.Join(err, a.undo(ctx))
		}
	}
	if err := a.commit(runs); err != nil {
		return errors.Join(err, a.undo(ctx))
	}
	return nil
}

// totalBytes returns the number of bytes of all runs.
func totalBytes(runs []Run) (total int64, err error) {
	for _, r := range runs {
		if r.Length < 0 || r.Offset < 0 || r.Length > math.MaxInt64-total {
			return 0, &SourceError{Run: r, Err: fmt.Errorf("%w: invalid offset or length", storage.ErrCorrupt)}
		}
		total += r.Length
	}
	return total, nil
}

// flushIfFull merges the segments in memory to disk if there are enough of them and the
// memory cannot grow. It does nothing while another goroutine merges.
func (in *Intake) flushIfFull(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.mu.merging || !in.enoughLocked() || in.mu.segments.grow(in.mu.segments.size/2) && !in.enoughLocked() {
		return nil
	}
	return in.flushLocked(ctx)
}

// arrival is the runs of one output on their way into an intake. No merge reads them before
// all of them have arrived: a copy may be tried again, and a run that was added twice would
// double its records.
//
//	flushIfFull ─► reserve ─► receive each run ─► commit
//	                             │ error            │ intake closed
//	                             └──────► undo ◄────┘
type arrival struct {
	in       *Intake
	ordinal  Ordinal  // Ordinal of the map
	open     OpenRun  // opens the runs of the map
	inMemory bool     // whether each run gets a part of reserved; otherwise it gets a file
	reserved piece    // memory of all runs; empty unless inMemory
	unused   piece    // the part of reserved for further runs
	sources  []Source // the runs that have arrived
}

// receive reads and verifies one run. The offset in the source file becomes the Sequence:
// the run has another offset here, which must not change the order of equal keys.
func (a *arrival) receive(ctx context.Context, run Run) error {
	if run.Length == 0 {
		if err := (&runVerifier{run: run}).finish(); err != nil {
			return &SourceError{run, err}
		}
		return nil
	}
	body, err := a.open(ctx, run)
	if err != nil {
		return &SourceError{run, err}
	}
	defer body.Close()
	s := Source{FS: a.in.opts.FS, Run: run, Ordinal: a.ordinal, Sequence: run.Offset}
	s.Run.Offset = 0
	if a.inMemory {
		err = receiveInMemory(&s, a.unused.front(run.Length), body)
	} else {
		err = a.in.receiveOnDisk(ctx, &s, body)
	}
	if err != nil {
		return err
	}
	a.sources = append(a.sources, s)
	return nil
}

// receiveInMemory reads the bytes of a run into a piece of the same length. It reads
// directly from the connection, in chunks. It verifies each chunk while the chunk is in the
// processor's cache.
func receiveInMemory(s *Source, p piece, body io.Reader) error {
	s.memory, s.place = p.bytes, p.extent
	s.Path = fmt.Sprintf("segment of source %v, run at offset %d, in memory", s.Ordinal, s.Sequence)
	v := runVerifier{run: s.Run}
	for left := s.memory; len(left) > 0; {
		n, err := body.Read(left[:min(len(left), remoteChunk)])
		if _, bad := v.Write(left[:n]); bad != nil {
			return s.blame(bad)
		}
		if left = left[n:]; err != nil && len(left) > 0 {
			return s.blame(unexpectedEOF(err))
		}
	}
	if err := v.finish(); err != nil {
		return s.blame(err)
	}
	return nil
}

// unexpectedEOF replaces an early end of the input by io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// blame wraps an error in a SourceError that names the run and its source.
func (s *Source) blame(err error) error {
	run := s.Run
	run.Offset = s.Sequence
	return &SourceError{run, err}
}

// receiveOnDisk copies a run into its own file.
func (in *Intake) receiveOnDisk(ctx context.Context, s *Source, body io.Reader) error {
	s.Path = in.newFile("segment")
	out, err := in.opts.FS.Create(ctx, s.Path, storage.CreateOptions{})
	if err != nil {
		return fmt.Errorf("segment %s: %w", s.Path, err)
	}
	if err := copyRun(ctx, out, s, body); err != nil {
		return errors.Join(err, out.Abort())
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("segment %s: %w", s.Path, errors.Join(err, out.Abort()))
	}
	return nil
}

// copyRun copies and verifies the bytes of a run.
func copyRun(ctx context.Context, out io.Writer, s *Source, body io.Reader) error {
	v := runVerifier{run: s.Run}
	buf := make([]byte, min(s.Run.Length, remoteChunk))
	for left := s.Run.Length; left > 0; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		b := buf[:min(int64(len(buf)), left)]
		if _, err := io.ReadFull(body, b); err != nil {
			return s.blame(unexpectedEOF(err))
		}
		if _, err := v.Write(b); err != nil {
			return s.blame(err)
		}
		if _, err := out.Write(b); err != nil {
			return fmt.Errorf("segment %s: %w", s.Path, err)
		}
		left -= int64(len(b))
	}
	if err := v.finish(); err != nil {
		return s.blame(err)
	}
	return nil
}

// commit adds the received runs to the intake, unless the intake is closed.
func (a *arrival) commit(runs []Run) error {
	in := a.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.mu.segments.closed {
		return errIntakeClosed
	}
	defer in.changedLocked()
	for _, run := range runs {
		in.countLocked(run)
	}
	if a.inMemory {
		in.mu.memory = append(in.mu.memory, a.sources...)
		in.mu.stats.InMemory += int64(len(a.sources))
	} else {
		in.mu.disk = append(in.mu.disk, a.sources...)
	}
	return nil
}

// undo releases the memory or disk space of an arrival that failed.
func (a *arrival) undo(ctx context.Context) error {
	if !a.inMemory {
		return a.in.drop(context.WithoutCancel(ctx), a.sources)
	}
	a.in.mu.Lock()
	defer a.in.mu.Unlock()
	a.in.mu.segments.give(a.reserved.extent)
	a.in.changedLocked()
	return nil
}
