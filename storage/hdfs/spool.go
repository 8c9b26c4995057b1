package hdfs

import (
	"fmt"
	"io"
	"os"
)

// spool keeps the bytes of a writer's current block, in case they must be written again. The
// first bytes are in memory, the rest in an unlinked file.
//
//	│ memory, up to limit │ file │
//	0                            size()
//
// The file has no name, so it vanishes with the process.
type spool struct {
	limit  int // bytes in memory
	dir    string
	memory []byte
	file   *os.File // nil until memory is full
	onDisk int64
}

// size returns the number of bytes since the last reset.
func (s *spool) size() int64 { return int64(len(s.memory)) + s.onDisk }

// add appends bytes.
func (s *spool) add(p []byte) error {
	n := min(len(p), s.limit-len(s.memory))
	s.memory = append(s.memory, p[:n]...)
	p = p[n:]
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

// reset empties the spool and keeps its buffers, at the start of each block.
func (s *spool) reset() {
	s.memory = s.memory[:0]
	s.onDisk = 0
}

// copyTo writes the content, in the order in which it was added. The spool keeps the content
// for the next try.
func (s *spool) copyTo(w io.Writer) error {
	if _, err := w.Write(s.memory); err != nil {
		return err
	}
	if s.onDisk == 0 {
		return nil
	}
	_, err := io.CopyBuffer(w, io.NewSectionReader(s.file, 0, s.onDisk), make([]byte, behindChunk))
	return err
}

// close releases the memory and the file.
func (s *spool) close() {
	s.memory = nil
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
