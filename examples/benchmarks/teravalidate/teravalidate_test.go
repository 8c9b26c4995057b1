package teravalidate

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/examples/benchmarks/terasort"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr/mrtest"
)

func generate(t testing.TB, rows int) (dir, content string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "rows")
	return dir, mrtest.Command(t, teragen.Program(), fmt.Sprint(rows), dir)
}

// directory writes each of contents to a part file of an output directory.
func directory(t testing.TB, contents ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, content := range contents {
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-r-%05d", i)), []byte(content), 0o644))
	}
	return dir
}

func validate(t *testing.T, dir string) string {
	t.Helper()
	return extest.UnderAllVariants(t, Program(), func(out string) []string {
		return []string{"-D", "mapreduce.job.reduces=1", dir, out}
	})
}

// TestSorted compares the checksum with the checksum of Hadoop 3.4 for the same rows.
func TestSorted(t *testing.T) {
	in, _ := generate(t, 1000)
	out := filepath.Join(t.TempDir(), "out")
	mrtest.Command(t, terasort.Program(), "-D", "mapreduce.job.reduces=3", in, out)
	extest.Equal(t, validate(t, out), "checksum\t1f9ffe645ec\n")
}

// TestDisorders compares the report with the report of Hadoop 3.4 for the same files.
func TestDisorders(t *testing.T) {
	_, content := generate(t, 1000)
	dir := directory(t, content[:400], content[len(content)-300:])
	extest.Equal(t, validate(t, dir), `checksum	44e5d6413
error	misorder in part-r-00000 between 95 e0 e4 82 62 b3 ed fe 04 47 and 45 97 93 53 db ed 53 29 36 5c
error	bad key partitioning:
  file part-r-00000:end key 88 2a 02 c3 15 36 2b 60 76 5f
  file part-r-00001:begin key 01 36 1f 67 6c 8c 51 cf 29 49
`)
}

// row returns a row whose key begins with this byte.
func row(key byte) string { return string(rune(key)) + strings.Repeat("0", teragen.RowSize-1) }

func rowsOf(keys string) (content string) {
	for i := range keys {
		content += row(keys[i])
	}
	return content
}

// TestFileThatEndsBelowItsBegin checks that a file whose last key is below its first is also
// reported by its ends, as in Hadoop.
func TestFileThatEndsBelowItsBegin(t *testing.T) {
	const rest = " 30 30 30 30 30 30 30 30 30\n"
	got := validate(t, directory(t, rowsOf("ab"), "", rowsOf("dc"), rowsOf("cc")))
	_, disorders, _ := strings.Cut(got, "\n")
	extest.Equal(t, disorders, "error\tmisorder in part-r-00002 between 64"+strings.TrimSuffix(rest, "\n")+" and 63"+rest+
		"error\tbad key partitioning:\n  file part-r-00002:begin key 64"+rest+"  file part-r-00002:end key 63"+rest)
}

// TestDisordersUnderAllVariants counts the places at which the order of random files is
// broken.
func TestDisordersUnderAllVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	contents, misorders, partitionings := make([]string, 5), 0, 0
	last := byte(0)
	for i := range contents {
		keys := make([]byte, 300+random.IntN(100))
		for j := range keys {
			keys[j] = byte('a' + random.IntN(20))
			if j > 0 && keys[j] < keys[j-1] {
				misorders++
			}
		}
		if keys[0] < last {
			partitionings++
		}
		last = keys[len(keys)-1]
		if last < keys[0] {
			partitionings++
		}
		contents[i] = rowsOf(string(keys))
	}
	got := validate(t, directory(t, contents...))
	if n := strings.Count(got, "error\tmisorder in "); n != misorders {
		t.Errorf("%d misorders, want %d", n, misorders)
	}
	if n := strings.Count(got, "error\tbad key partitioning:"); n != partitionings {
		t.Errorf("%d bad partitionings, want %d", n, partitionings)
	}
}

// TestPause saves the state of a mapper and loads it into another mapper.
func TestPause(t *testing.T) {
	var s scan
	s.now.Sum, s.now.File, s.now.Start = checksum{1, 2}, "f", 3
	s.now.First, s.now.Last = []byte("a\x00"), []byte("\xff")
	state, err := s.Save()
	must.Do(t, err)
	var next scan
	must.Do(t, next.Load(state))
	again, err := next.Save()
	if err != nil || string(again) != string(state) {
		t.Errorf("state %s came back as %s, %v", state, again, err)
	}
	if next.now.Sum != s.now.Sum || string(next.now.First) != "a\x00" || string(next.now.Last) != "\xff" {
		t.Errorf("state came back as %+v", next.now)
	}
}

// TestChecksum compares sums with sums in arbitrary precision.
func TestChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum checksum
		want := new(big.Int)
		for range rapid.IntRange(0, 5).Draw(t, "terms") {
			term := checksum{rapid.Uint64Max(1<<60).Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}
			sum.addAll(term)
			n := new(big.Int).SetUint64(term.Hi)
			want.Add(want, n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(term.Lo)))
		}
		if got := sum.String(); got != want.Text(16) {
			t.Fatalf("sum %s, want %x", got, want)
		}
		if got := parseChecksum(sum.String()); got != sum {
			t.Fatalf("%v is read as %v", sum, got)
		}
	})
}

func TestTeravalidateRefuses(t *testing.T) {
	extest.Refused(t, Program(), "", "in")
	extest.Refused(t, Program(), "", "in", "more", "out")
}
