package examples

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/invertedindex"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestInvertedIndex(t *testing.T) {
	a, b := mrtest.File(t, "a", "x y x\n"), mrtest.File(t, "b", "y\n\nz x\n")
	got := mrtest.Command(t, invertedindex.Program(), a, b, t.TempDir()+"/out")
	x := fmt.Sprintf("x\tfile://%s:2\tfile://%s:1\n", a, b)
	y := fmt.Sprintf("y\tfile://%s:1\tfile://%s:1\n", a, b)
	z := fmt.Sprintf("z\tfile://%s:1\n", b)
	extest.Equal(t, got, x+y+z)
}

func TestInvertedIndexUnderAllVariants(t *testing.T) {
	dir := t.TempDir()
	index := make(map[string]map[string]int)
	for f := range 5 {
		name := filepath.Join(dir, fmt.Sprint("file", f))
		lines := extest.Lines(uint64(f), 4000)
		must.Do(t, os.WriteFile(name, []byte(extest.Text(lines)), 0o644))
		for _, word := range strings.Fields(extest.Text(lines)) {
			if index[word] == nil {
				index[word] = make(map[string]int)
			}
			index[word]["file://"+name]++
		}
	}
	var want strings.Builder
	for _, word := range slices.Sorted(maps.Keys(index)) {
		want.WriteString(word)
		for _, name := range slices.Sorted(maps.Keys(index[word])) {
			fmt.Fprintf(&want, "\t%s:%d", name, index[word][name])
		}
		want.WriteByte('\n')
	}
	got := extest.UnderAllVariants(t, invertedindex.Program(), func(out string) []string {
		return []string{"-D", "mapreduce.job.reduces=1", dir, out}
	})
	extest.Equal(t, got, want.String())
}
