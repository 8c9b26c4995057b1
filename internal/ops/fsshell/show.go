package fsshell

import (
	"io"
	"math"
	"strings"

	"github.com/hammr/hammr/storage"
)

// peekBytes is the number of bytes that -head and -tail show, as in Hadoop. It ignores line
// ends.
const peekBytes = 1024

// cat prints the whole file. -ignoreCrc is accepted and has no effect.
func cat(s *shell, _ invocation, it item) error { return s.printRange(it, 0, math.MaxInt64) }

// head prints the first KB of the file.
func head(s *shell, _ invocation, it item) error { return s.printRange(it, 0, peekBytes) }

// tail prints the end of a file, from its last KB, and bytes that a writer has added since
// the command looked at the file.
func tail(s *shell, _ invocation, it item) error {
	return s.printRange(it, it.info.Size-peekBytes, math.MaxInt64)
}

// printRange prints at most `most` bytes of a file from an offset; an offset below 0 means
// the beginning.
func (s *shell) printRange(it item, offset, most int64) error {
	file, err := s.open(it)
	if err != nil {
		return err
	}
	defer file.Close()
	if offset > 0 {
		if _, err := file.Seek(offset, io.SeekStart); err != nil {
			return err
		}
	}
	_, err = io.Copy(s.out, io.LimitReader(file, most))
	return err
}

// open opens a file; for a directory it returns an error in Hadoop's words. The caller
// closes the file, and ignores the error of Close because it only reads.
func (s *shell) open(it item) (storage.File, error) {
	if it.isDir() {
		return nil, isDirectory(it.name)
	}
	return it.fs.Open(s.ctx, it.path)
}

// blocks prints where a file is stored: a line with its name, and a line for each block with
// offset, length and hosts, separated by tabs. Hosts are separated by commas; "-" means any
// host.
func blocks(s *shell, _ invocation, it item) error {
	if it.isDir() {
		return isDirectory(it.name)
	}
	found, err := it.fs.Blocks(s.ctx, it.path, 0, it.info.Size)
	if err != nil {
		return err
	}
	s.printf("%s: %d bytes, %d blocks\n", it.name, it.info.Size, len(found))
	for _, b := range found {
		hosts := "-"
		if len(b.Hosts) > 0 {
			hosts = strings.Join(b.Hosts, ",")
		}
		s.printf("%d\t%d\t%s\n", b.Offset, b.Length, hosts)
	}
	return nil
}
