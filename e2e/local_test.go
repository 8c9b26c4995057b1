package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// Pipelines that compute the output of the bundled programs.
const (
	toolWordcount = `for f; do cat -- "$f"; echo; done | tr -s ' \t\n\r\f' '\n' | sed '/^$/d' | sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }' | sort`
	toolGrep      = `cat -- "$@" | grep -aoE 'w[0-9]*1' | sort | uniq -c | awk '{ print $1 "\t" $2 }' | sort -k1,1nr -k2,2`
	regex         = `w[0-9]*1`
)

// smallMemory makes a small input spill often and have many splits.
var smallMemory = []string{"-D", "mapreduce.task.io.sort.mb=1", "-D", "hammr.local.blocksize=256k", "-D", "hammr.input.combine=false"}

func TestWordcountLikeTools(t *testing.T) {
	in := proseFile(t, "a.txt", 3<<20)
	other := proseFile(t, "b.txt", 100_000)
	want := shell(t, toolWordcount, in, other)
	for name, options := range map[string][]string{
		"defaults":      nil,
		"small memory":  smallMemory,
		"three reduces": {"-D", "mapreduce.job.reduces=3", "-D", "hammr.local.blocksize=100000"},
		"compressed":    {"-D", "mapreduce.map.output.compress=true", "-D", "mapreduce.task.io.sort.mb=1"},
		"one worker":    {"--workers", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			done(t, slices.Concat([]string{"run", "wordcount"}, options, []string{in, other, out})...)
			reduces := 1
			if name == "three reduces" {
				reduces = 3
			}
			wantSame(t, sortedLines(parts(t, out, reduces)), want)
			if reduces == 1 {
				wantSame(t, parts(t, out, 1), want) // it is sorted already
			}
		})
	}
}

func TestSortLikeSort(t *testing.T) {
	in := binaryLines(t, "a", 3<<20)
	other := binaryLines(t, "b", 50_000)
	want := shell(t, `sort -- "$@"`, in, other)
	for _, options := range [][]string{{"-r", "1"}, {"-r", "2"}, {"-r", "7"}} {
		for _, memory := range [][]string{nil, smallMemory} {
			out := filepath.Join(t.TempDir(), "out")
			done(t, slices.Concat([]string{"run", "sort"}, memory, options, []string{in, other, out})...)
			wantSame(t, parts(t, out, int(options[1][0]-'0')), want)
		}
	}
}

func TestGrepLikeGrep(t *testing.T) {
	in := proseFile(t, "a.txt", 2<<20)
	want := shell(t, toolGrep, in)
	out := filepath.Join(t.TempDir(), "out")
	done(t, slices.Concat([]string{"run", "grep"}, smallMemory, []string{in, out, regex})...)
	wantSame(t, parts(t, out, 1), want)
	beside, err := os.ReadDir(filepath.Dir(out))
	must.Do(t, err)
	if len(beside) != 1 {
		t.Errorf("grep left %v beside its output", beside)
	}
}

// TestTerasort sorts the rows of teragen and compares them with an independent sort.
func TestTerasort(t *testing.T) {
	dir := t.TempDir()
	in, out, report := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "report")
	done(t, "run", "teragen", "-D", "mapreduce.job.maps=3", "30000", in)
	done(t, slices.Concat([]string{"run", "terasort", "-D", "mapreduce.job.reduces=4"}, smallMemory, []string{in, out})...)
	var rows []byte
	for _, name := range mapParts(t, in, 3) {
		rows = append(rows, readFile(t, name)...)
	}
	wantSame(t, parts(t, out, 4), sortedRows(rows))

	done(t, "run", "teravalidate", out, report)
	sorted := parts(t, report, 1)
	if !bytes.HasPrefix(sorted, []byte("checksum\t")) || bytes.Contains(sorted, []byte("error")) {
		t.Errorf("teravalidate of sorted rows: %s", sorted)
	}
	unsorted := filepath.Join(dir, "unsorted")
	done(t, "run", "teravalidate", in, unsorted)
	if got := parts(t, unsorted, 1); !bytes.HasPrefix(got, sorted) || !bytes.Contains(got, []byte("error")) {
		t.Errorf("teravalidate of unsorted rows: %.200s", got)
	}
}

// mapParts returns the file names of a complete local output of n maps.
func mapParts(t *testing.T, dir string, n int) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "part-m-*"))
	must.Do(t, err)
	if len(names) != n {
		t.Fatalf("%s holds %v, want %d files", dir, names, n)
	}
	if _, err := os.Stat(filepath.Join(dir, "_SUCCESS")); err != nil {
		t.Error(err)
	}
	return names
}

// sortedRows returns rows of 100 bytes in the order of their first 10.
func sortedRows(data []byte) []byte {
	rows := slices.Collect(slices.Chunk(data, 100))
	slices.SortStableFunc(rows, func(a, b []byte) int { return bytes.Compare(a[:10], b[:10]) })
	return bytes.Join(rows, nil)
}
