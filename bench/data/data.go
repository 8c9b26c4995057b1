// Package data generates the input of experiments. The same arguments give the same bytes on every
// machine, so that results can be compared.
package data

import (
	"bufio"
	"errors"
	"fmt"
	"os"
)

// File creates a file with the content that write writes.
func File(name string, write func(w *bufio.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// Lines writes lines until the size is reached. line appends a line to dst without its newline; Lines reuses the
// memory of dst.
func Lines(w *bufio.Writer, bytes int64, line func(dst []byte) []byte) error {
	var b []byte
	for written := int64(0); written < bytes; written += int64(len(b)) {
		b = append(line(b[:0]), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// Text returns lines of sixteen short words, size bytes in all, at least one. All words of the vocabulary occur about
// equally often.
func Text(size, vocabulary int) []byte {
	size = max(size, 1)
	text := make([]byte, 0, size+16)
	for n := 0; len(text) < size; n++ {
		text = fmt.Appendf(text, "%x ", n*2654435761%vocabulary)
		if n%16 == 15 {
			text[len(text)-1] = '\n'
		}
	}
	text = text[:size]
	text[len(text)-1] = '\n'
	return text
}
