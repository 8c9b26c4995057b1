package benchmarks

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/examples/benchmarks/terasort"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// generate runs teragen into a new directory.
func generate(t testing.TB, rows int) (dir, content string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "in")
	return dir, mrtest.Command(t, teragen.Program(), fmt.Sprint(rows), dir)
}

// sorted returns rows in order of their keys. Rows with equal keys keep their order.
func sorted(content string) string {
	rows := slices.Collect(slices.Chunk([]byte(content), teragen.RowSize))
	slices.SortStableFunc(rows, func(a, b []byte) int {
		return bytes.Compare(a[:teragen.KeySize], b[:teragen.KeySize])
	})
	return string(bytes.Join(rows, nil))
}

func TestTerasortUnderAllVariants(t *testing.T) {
	in, content := generate(t, 20_000)
	got := extest.UnderAllVariants(t, terasort.Program(), func(out string) []string { return []string{in, out} })
	if got != sorted(content) {
		t.Error("the rows are not those of the input in order of their keys")
	}
}

// TestTerasortOfFewKeys sorts rows of which many share a key; half of them have the most
// frequent key. Rows with equal keys must keep their order, and every reduce must get some
// rows.
func TestTerasortOfFewKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	var content strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&content, "key%07d%090d", random.IntN(2)*random.IntN(100), i)
	}
	in := mrtest.File(t, "rows", content.String())
	got := extest.UnderAllVariants(t, terasort.Program(), func(out string) []string { return []string{in, out} })
	if got != sorted(content.String()) {
		t.Error("the rows are not those of the input in order of their keys")
	}
}

func TestTerasortSpreadsRows(t *testing.T) {
	in, content := generate(t, 50_000)
	out := filepath.Join(t.TempDir(), "out")
	mrtest.Command(t, terasort.Program(), "-D", "mapreduce.job.reduces=4", in, out)
	for i, part := range mrtest.Parts(t, out) {
		if share := float64(len(part)) / float64(len(content)); share < 0.2 || share > 0.3 {
			t.Errorf("part %d has %.0f %% of the rows, want about 25", i, 100*share)
		}
	}
}

// TestTerasortFailsOnHalfARow checks that the error names the truncated file.
func TestTerasortFailsOnHalfARow(t *testing.T) {
	in := mrtest.File(t, "cut", strings.Repeat("x", 250))
	got := mrtest.Exec(t, terasort.Program(), in, filepath.Join(t.TempDir(), "out"))
	if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, in) {
		t.Errorf("exit code %d, want %d and the name of the file in\n%s", got.Code, mr.ExitFailed, got.Stderr)
	}
}
