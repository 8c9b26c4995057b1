package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// output writes a file and returns its name.
func output(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "output")
	must.Do(t, os.WriteFile(name, []byte(content), 0o644))
	return name
}

func TestComparisons(t *testing.T) {
	numbers := tolerance{0.01, 1e-3}.compare
	for _, c := range []struct {
		name        string
		compare     func(ours, rival string) error
		ours, rival string
		want        string // part of the error
	}{
		{"another order", sameRecords(identity), "a\t1\nb\t2\n", "b\t2\na\t1\n", ""},
		{"uniq -c", sameRecords(countFirst), "a\t1\nb c\t22\n", "     22 b c\n      1 a\n", ""},
		{"another count", sameRecords(identity), "a\t1\nb\t2\n", "a\t1\nb\t3\n", `has "b\t`},
		{"a record twice", sameRecords(identity), "a\na\nb\n", "a\nb\nb\n", "3 records, rival 3; only"},
		{"a record too few", sameRecords(identity), "a\nb\n", "a\n", `only ours has "b"`},
		{"a record too many", sameRecords(countFirst), "", " 1 a\n", `only the rival has "a\t1"`},
		{"lines in order", sameLines(identity), "a\nb\n", "b\na\n", `line 1: "a", rival "b"`},
		{"equal lines", sameLines(countFirst), "a\t1\n", "      1 a\n", ""},
		{"a line too few", sameLines(identity), "a\nb\n", "a\n", "2 lines, rival 1"},
		{"close numbers", numbers, "1\t5 1000\t7\n0\t0.001 1\t7\n", "0\t0 1\t7\n1\t5 1000.9\t7\n", ""},
		{"numbers apart", numbers, "0\t1 2\n", "0\t1 2.02\n", `"0\t1 2", rival "0\t1 2.02"`},
		{"another key", numbers, "1\t5\n", "2\t5\n", "rival"},
		{"no number", numbers, "1\t5\n", "1\tNaN\n", "rival"},
		{"a number too few", numbers, "1\t5 6\n", "1\t5\n", "rival"},
		{"a node too few", numbers, "1\t5\n2\t5\n", "1\t5\n", "2 records, rival 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.compare(output(t, c.ours), output(t, c.rival))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestComparisonFindsOneRecord plants one difference among many records.
func TestComparisonFindsOneRecord(t *testing.T) {
	var lines []string
	for i := range 50_000 {
		lines = append(lines, fmt.Sprintf("%08d", i))
	}
	ours := output(t, strings.Join(lines, "\n"))
	lines[31_415] = "planted"
	err := sameRecords(identity)(ours, output(t, strings.Join(lines, "\n")))
	if err == nil || !strings.Contains(err.Error(), "00031415") && !strings.Contains(err.Error(), "planted") {
		t.Errorf("error %v, want one that names the record", err)
	}
}
