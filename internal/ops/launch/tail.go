package launch

import (
	"io"
	"os"
	"strings"
)

// Limits of what an error quotes of a file.
const (
	tailLines = 10
	tailBytes = 16 << 10
)

// tail returns the last lines of a file after an offset, indented. A file that is shorter than
// the offset was truncated, and is read from its start. An error is returned as the text.
func tail(name string, from int64) string {
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		if size < from {
			from = 0
		}
		from = max(from, size-tailBytes)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n  ")
}
