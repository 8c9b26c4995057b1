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

// tail prints the end of the file as it was when it was looked at, and what a writer has added
// since. It begins to read at the last KB.
func tail(s *shell, _ invocation, it item) error {
	return s.printRange(it, it.info.Size-peekBytes, math.MaxInt64)
}

// printRange prints the bytes of a file from an offset on, at most as many; an offset below
// 0 is the beginning.
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

// open opens a file; a directory is refused in Hadoop's words. The caller closes it; errors of
// closing a file that is only read say nothing.
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
