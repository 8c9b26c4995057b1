package hdfs

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
)

// spool keeps the bytes of a writer's current block, in case they must be written again. The
// first chunks stay in memory, while the writers together have enough of it. The rest of the
// block is in an unlinked file.
//
//	│ chunks │ file │
//	0               size()
//
// The file has no name, so it vanishes with the process.
type spool struct {
	memory *spoolMemory
	dir    string
	chunks [][]byte
	inMem  int64    // bytes in chunks
	file   *os.File // nil until the first chunk without memory
	onDisk int64
}

// spoolMemory is the memory that the spools of a file system share.
type spoolMemory struct {
	limit int64 // bytes
	used  atomic.Int64
}

// tryTake takes n bytes if as many are free, and reports whether it did.
func (m *spoolMemory) tryTake(n int) bool {
	if m.used.Add(int64(n)) <= m.limit {
		return true
	}
	m.give(n)
	return false
}

// give returns n bytes that tryTake took.
func (m *spoolMemory) give(n int) { m.used.Add(-int64(n)) }

// size returns the number of bytes since the last reset.
func (s *spool) size() int64 { return s.inMem + s.onDisk }

// add appends bytes that the caller may change afterwards.
func (s *spool) add(p []byte) error { return s.keep(slices.Clone(p)) }

// keep appends the bytes of a chunk, which it owns from then on.
func (s *spool) keep(c []byte) error {
	if s.onDisk == 0 && s.memory.tryTake(cap(c)) {
		s.chunks = append(s.chunks, c)
		s.inMem += int64(len(c))
		return nil
	}
	err := s.writeFile(c)
	giveChunk(c)
	return err
}

// writeFile appends bytes to the file.
func (s *spool) writeFile(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if s.file == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	n, err := s.file.WriteAt(p, s.onDisk)
	s.onDisk += int64(n)
	if err != nil {
		return fmt.Errorf("hdfs: copy of the block being written, in %s: %w", s.dir, err)
	}
	return nil
}

// create creates the file and removes its name at once, so that a process that is killed leaves
// nothing behind.
func (s *spool) create() error {
	f, err := os.CreateTemp(s.dir, "hammr-block-")
	if err != nil {
		return fmt.Errorf("hdfs: copy of the block being written: %w", err)
	}
	s.file = f
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("hdfs: copy of the block being written: %w", err)
	}
	return nil
}

// reset empties the spool and returns its memory, at the start of each block.
func (s *spool) reset() {
	for i, c := range s.chunks {
		s.memory.give(cap(c))
		giveChunk(c)
		s.chunks[i] = nil
	}
	s.chunks, s.inMem, s.onDisk = s.chunks[:0], 0, 0
}

// copyTo writes the content, in the order in which it was added. The spool keeps the content
// for the next try.
func (s *spool) copyTo(w io.Writer) error {
	for _, c := range s.chunks {
		if _, err := w.Write(c); err != nil {
			return err
		}
	}
	if s.onDisk == 0 {
		return nil
	}
	_, err := io.CopyBuffer(w, io.NewSectionReader(s.file, 0, s.onDisk), make([]byte, behindChunk))
	return err
}

// close returns the memory and closes the file.
func (s *spool) close() {
	s.reset()
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
