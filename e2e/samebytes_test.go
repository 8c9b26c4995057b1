package e2e

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// outputs is the files of each case, by relative name.
type outputs map[string]map[string][]byte

// TestProgramsWriteTheSameBytes runs bundled programs in one process on HDFS, and on a cluster of
// three masters on local files. At night it runs every program, also on the smallest cluster, and on
// HDFS. The files are the same, name by name and byte by byte.
func TestProgramsWriteTheSameBytes(t *testing.T) {
	t.Parallel()
	inputs, want := undisturbedCases(t)
	wantMeaning(t, want)
	t.Run("one process", func(t *testing.T) { runCases(t, newHDFSPlace(t, inputs), command{}, want) })
	if t.Failed() {
		return
	}
	for _, masters := range testlevel.Choose([]string{"3"}, []string{"1", "3"}) {
		t.Run(masters+" masters", func(t *testing.T) {
			tasknodes := map[string]string{"1": "1", "3": "4"}[masters]
			e := newEngine(t, "--masters", masters, "--tasknodes", tasknodes, "--map-slots", "2", "--reduce-slots", "2")
			t.Run("disk", func(t *testing.T) { runCases(t, newDiskPlace(t, inputs), e.command(), want) })
			t.Run("HDFS", func(t *testing.T) {
				// Gate: TestProgramsWriteTheSameBytes, TestClusterOnHDFS
				testlevel.Nightly(t)
				runCases(t, newHDFSPlace(t, inputs), e.command(), want)
			})
		})
	}
}

// undisturbed is what undisturbedCases returns.
var undisturbed struct {
	sync.Once
	inputs map[string][]byte
	want   outputs
}

// undisturbedCases returns the inputs of all cases, and their outputs in one process on the disk.
// The first test that needs them runs the cases.
func undisturbedCases(t *testing.T) (inputs map[string][]byte, want outputs) {
	t.Helper()
	undisturbed.Do(func() {
		inputs := bytesInputs(t)
		t.Run("undisturbed", func(t *testing.T) {
			undisturbed.inputs, undisturbed.want = inputs, runCases(t, newDiskPlace(t, inputs), command{}, nil)
		})
	})
	if len(undisturbed.want) != len(levelCases()) {
		t.Fatal("a case has failed in one process on the disk")
	}
	return undisturbed.inputs, undisturbed.want
}

// runCases runs all cases in a place, some in parallel, with some settings, and compares
// their outputs with want, unless that is nil.
func runCases(t *testing.T, p place, c command, want outputs, settings ...string) outputs {
	t.Helper()
	var mu sync.Mutex
	got := make(outputs)
	concurrently(t, func(run subtest) {
		for _, bc := range levelCases() {
			run(bc.name, func(t *testing.T) {
				files := bc.run(t, p, c, settings)
				if want != nil {
					wantSameFiles(t, files, want[bc.name])
				}
				mu.Lock()
				defer mu.Unlock()
				got[bc.name] = files
			})
		}
	})
	return got
}

// run runs the commands of a case and returns the files that they leave. In their content
// the full name of the place is replaced by ROOT.
func (bc bytesCase) run(t *testing.T, p place, c command, settings []string) map[string][]byte {
	t.Helper()
	names := strings.NewReplacer("IN/", p.root()+"/in/", "OUT", p.root()+"/"+bc.name)
	for _, args := range bc.commands {
		c.args = append([]string{"run", "--quiet", args[0]}, settings...)
		for _, arg := range args[1:] {
			c.args = append(c.args, names.Replace(arg))
		}
		start(t, c).wait(t).want(t, 0)
	}
	files := p.files(t, path.Join(bc.name, bc.only))
	for name, content := range files {
		files[name] = bytes.ReplaceAll(content, []byte(p.root()), []byte("ROOT"))
	}
	return files
}

func wantSameFiles(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	names := slices.Sorted(maps.Keys(got))
	if wanted := slices.Sorted(maps.Keys(want)); !slices.Equal(names, wanted) {
		t.Errorf("files %q, want %q", names, wanted)
	}
	for _, name := range names {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s:", name)
			wantSame(t, got[name], want[name])
		}
	}
}

// wantMeaning checks that the outputs are worth comparing: they are not empty and contain
// nothing else, twins are equal, and rows are sorted.
func wantMeaning(t *testing.T, of outputs) {
	t.Helper()
	for _, bc := range levelCases() {
		if size := len(joined(of[bc.name])); size < 50 {
			t.Errorf("%s: %d bytes in %d files", bc.name, size, len(of[bc.name]))
		}
		if len(bc.commands) == 1 && bc.only == "" {
			wantSameFiles(t, below(of[bc.name], "out/"), without(of[bc.name], "./"))
		}
		if of[bc.twin] != nil {
			wantSameFiles(t, of[bc.name], of[bc.twin])
		}
	}
	sorted := of["terasort"]
	wantSame(t, joined(below(sorted, "out/")), sortedRows(joined(below(sorted, "rows/"))))
	for report, faulty := range map[string]bool{"report/part-r-00000": false, "faults/part-r-00000": true} {
		text := sorted[report]
		if !bytes.HasPrefix(text, []byte("checksum\t")) || bytes.Contains(text, []byte("error")) != faulty {
			t.Errorf("teravalidate wrote to %s: %.200s", report, text)
		}
	}
}

// below returns the files of a directory.
func below(files map[string][]byte, dir string) map[string][]byte {
	found := maps.Clone(files)
	maps.DeleteFunc(found, func(name string, _ []byte) bool { return !strings.HasPrefix(name, dir) })
	return found
}

// without returns all files but one.
func without(files map[string][]byte, name string) map[string][]byte {
	found := maps.Clone(files)
	delete(found, name)
	return found
}

// joined returns the contents of files in the order of their names.
func joined(files map[string][]byte) (content []byte) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content = append(content, files[name]...)
	}
	return content
}

// TestEveryProgramIsCompared checks that each bundled program is either among the cases, or
// in bytesLeftOut with a reason.
func TestEveryProgramIsCompared(t *testing.T) {
	compared := maps.Clone(bytesLeftOut)
	for _, bc := range bytesCases {
		for _, args := range bc.commands {
			compared[args[0]] = "compared"
		}
	}
	for _, p := range examples.Programs() {
		if compared[p.Name] == "" {
			t.Errorf("%s: neither compared nor left out", p.Name)
		}
	}
}
