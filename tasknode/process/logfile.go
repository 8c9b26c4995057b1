package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// logFile keeps the beginning and the end of what is written to it. The file is readable
// at any time:
//
//	┌───── part ─────┬─ gap ─┬──── part to 2·part ────┐
//	│ the first bytes│"[… left out …]"│ the last bytes │
//	└────────────────┴───────┴────────────────────────┘
//
// When the last bytes exceed two parts, the older part of them is dropped. There is no gap
// before the first drop, and no file before the first write: most tasks print nothing, and
// making a file takes as long as running a small task.
type logFile struct {
	path    string
	file    *os.File // nil before the first write
	part    int64    // bytes; a third of the limit
	size    int64    // size of the file in bytes
	dropped int64    // bytes that were dropped
	gap     int64    // length of the text about dropped bytes; 0 if there is none
	err     error    // the first error; nothing is written after it
}

// newLogFile returns a log of about limit bytes. Its file is made at the first write.
func newLogFile(path string, limit int64) *logFile {
	return &logFile{path: path, part: limit / 3}
}

// create makes the file, and its directory if needed.
func (l *logFile) create() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	l.file = f
	return err
}

// Write never fails, so that the task's output is always read to its end. Close returns the
// error.
func (l *logFile) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && l.err == nil; {
		n := min(int64(len(rest)), l.part)
		l.append(rest[:n])
		rest = rest[n:]
	}
	return len(p), nil
}

// append writes at most one part.
func (l *logFile) append(p []byte) {
	if l.file == nil {
		l.err = l.create()
	}
	if l.err == nil && l.size+int64(len(p)) > 3*l.part+l.gap {
		l.compact()
	}
	if l.err != nil {
		return
	}
	_, l.err = l.file.WriteAt(p, l.size)
	l.size += int64(len(p))
}

// compact drops the bytes between the first and the last part.
func (l *logFile) compact() {
	last := make([]byte, l.part)
	if _, l.err = l.file.ReadAt(last, l.size-l.part); l.err != nil {
		return
	}
	l.dropped += l.size - l.gap - 2*l.part
	note := fmt.Sprintf("\n[… %15d bytes are left out here …]\n", l.dropped)
	l.gap = int64(len(note))
	_, l.err = l.file.WriteAt(append([]byte(note), last...), l.part)
	l.size = 2*l.part + l.gap
	if l.err == nil {
		l.err = l.file.Truncate(l.size)
	}
}

// Close returns the first error of all writes.
func (l *logFile) Close() error {
	if l.file == nil {
		return l.err
	}
	return errors.Join(l.err, l.file.Close())
}

// tail returns the last n bytes, or fewer. It cuts to whole lines if possible. It replaces
// invalid UTF-8, because messages cannot carry it.
func (l *logFile) tail(n int64) string {
	if l.size == 0 {
		return ""
	}
	from := max(0, l.size-n)
	text, err := io.ReadAll(io.NewSectionReader(l.file, from, l.size-from))
	if err != nil {
		return ""
	}
	if _, rest, found := bytes.Cut(text, []byte("\n")); from > 0 && found && len(rest) > 0 {
		text = rest
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
