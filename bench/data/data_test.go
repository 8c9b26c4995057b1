package data

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestLinesReachTheSize(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lines")
	n := byte(0)
	err := File(name, func(w *bufio.Writer) error {
		return Lines(w, 7, func(dst []byte) []byte {
			n++
			return append(dst, 'a', '0'+n)
		})
	})
	if got, _ := os.ReadFile(name); err != nil || string(got) != "a1\na2\na3\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := File(t.TempDir(), nil); err == nil {
		t.Error("a directory is taken for a file")
	}
}

func TestTextHasItsVocabulary(t *testing.T) {
	text := Text(10_000, 97)
	words := make(map[string]int)
	for _, word := range bytes.Fields(text[:9_900]) {
		words[string(word)]++
	}
	if len(text) != 10_000 || text[9_999] != '\n' || len(words) != 97 || !bytes.Equal(text, Text(10_000, 97)) {
		t.Errorf("%d bytes, %d words", len(text), len(words))
	}
	for _, size := range []int{0, 1, 2, 1000} {
		if text := Text(size, 97); len(text) != max(size, 1) || text[len(text)-1] != '\n' {
			t.Errorf("%d bytes: %d, ending in %q", size, len(text), text[len(text)-1])
		}
	}
}
