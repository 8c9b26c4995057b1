package fsshell

import (
	"io"

	"github.com/hammr/hammr/storage"
)

// peekBytes is the number of bytes that -head and -tail show.
const peekBytes = 1024

func cat(s *shell, _ invocation, it item) error {
	file, err := s.open(it)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(s.out, file)
	return err
}

func head(s *shell, _ invocation, it item) error {
	file, err := s.open(it)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(s.out, io.LimitReader(file, peekBytes))
	return err
}

func tail(s *shell, _ invocation, it item) error {
	file, err := s.open(it)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(max(0, it.info.Size-peekBytes), io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(s.out, file)
	return err
}

// open opens a file; a directory is refused.
func (s *shell) open(it item) (storage.File, error) {
	if it.isDir() {
		return nil, isDirectory(it.name)
	}
	return it.fs.Open(s.ctx, it.path)
}
