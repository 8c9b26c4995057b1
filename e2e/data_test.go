package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// proseFile writes about size bytes of words to a new file: few words are frequent and many
// rare, some are not ASCII and some not UTF-8, separated by every kind of white space, on
// lines from empty to very long. The last line has no end.
func proseFile(t *testing.T, name string, size int) string {
	random := rand.New(rand.NewPCG(uint64(size), 1))
	zipf := rand.NewZipf(random, 1.2, 3, 50_000)
	var text bytes.Buffer
	for text.Len() < size {
		words := random.IntN(20)
		if random.IntN(500) == 0 {
			words = 20_000
		}
		for range words {
			text.WriteString(word(zipf.Uint64()))
			text.WriteString([]string{" ", " ", "\t", "  ", " \f"}[random.IntN(5)])
		}
		text.WriteString([]string{"\n", "\n", "\n", "\r\n", "\n\n"}[random.IntN(5)])
	}
	text.WriteString("the end")
	return newFile(t, name, text.Bytes())
}

// word returns the nth word.
func word(n uint64) string {
	return fmt.Sprintf([]string{"w%d", "wört%d", "b\x80\xff%d", "%d", "Δ%d.", "longer-than-eight-bytes-%d"}[n%6], n)
}

// binaryLines writes lines of any bytes but LF to a new file, many of them equal
// and many with a common beginning. The last one has no end.
func binaryLines(t *testing.T, name string, size int) string {
	random := rand.New(rand.NewPCG(uint64(size), 2))
	var text bytes.Buffer
	for text.Len() < size {
		if random.IntN(3) == 0 {
			text.WriteString("common beginning ")
		}
		for range random.IntN(24) {
			text.WriteByte("a\x00\r\xff\tz\x80"[random.IntN(7)])
		}
		text.WriteByte('\n')
	}
	return newFile(t, name, bytes.TrimRight(text.Bytes(), "\n"))
}

// randomLines writes n lines to a new file.
func randomLines(t *testing.T, name string, n int, line func(r *rand.Rand) string) string {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 3))
	var text bytes.Buffer
	for range n {
		fmt.Fprintln(&text, line(r))
	}
	return newFile(t, name, text.Bytes())
}

// newFile writes a file into a directory of its own.
func newFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(name, content, 0o644))
	return name
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	must.Do(t, err)
	return content
}

// parts returns the content of the files of a complete local output in the order of their
// names. There must be exactly n of them, and _SUCCESS.
func parts(t *testing.T, dir string, n int) []byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	var names []string
	var content []byte
	for _, e := range entries {
		names = append(names, e.Name())
		if e.Name() != "_SUCCESS" {
			content = append(content, readFile(t, filepath.Join(dir, e.Name()))...)
		}
	}
	if !slices.Equal(names, partNames(n)) {
		t.Fatalf("%s holds %v, want %v", dir, names, partNames(n))
	}
	return content
}

// partNames returns the file names in an output of n reduces.
func partNames(n int) []string {
	names := []string{"_SUCCESS"}
	for i := range n {
		names = append(names, fmt.Sprintf("part-r-%05d", i))
	}
	return names
}

// wantSame compares bytes and prints the first difference.
func wantSame(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%d bytes, want %d; at byte %d got %q, want %q", len(got), len(want), at, excerpt(got, at), excerpt(want, at))
}

func excerpt(b []byte, at int) []byte { return b[max(0, at-20):min(len(b), at+60)] }

// sortedLines returns the lines of a text in byte order, each with a line end.
func sortedLines(text []byte) []byte {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	slices.SortFunc(lines, bytes.Compare)
	return append(bytes.Join(lines, []byte("\n")), '\n')
}
