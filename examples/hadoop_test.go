package examples

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/benchmarks/randomwriter"
	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/examples/benchmarks/terasort"
	"github.com/hammr/hammr/examples/benchmarks/teravalidate"
	"github.com/hammr/hammr/examples/grep"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/secondarysort"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

var update = flag.Bool("update", false, "record the digests of what Hadoop's programs write (make nightly)")

// digests is the file with the SHA-256 sums of what Hadoop's programs have written, by case.
const digests = "testdata/hadoop.json"

// hadoop compares outputs with those of Hadoop's own programs. In the gate it compares with their
// recorded digests. `make nightly` runs Hadoop's programs one after another, each in its own process.
type hadoop struct {
	t        *testing.T
	recorded map[string]string
	java     *minihdfs.Java // nil in the gate
	temp     string
}

// newHadoop skips the test in `make nightly` if Java or the jars are missing, unless they are required.
func newHadoop(t *testing.T) *hadoop {
	t.Helper()
	h := &hadoop{t: t, recorded: make(map[string]string), temp: t.TempDir()}
	if data, err := os.ReadFile(digests); err != nil && !*update {
		t.Fatal(err)
	} else if err == nil {
		must.Do(t, json.Unmarshal(data, &h.recorded))
	}
	if !testlevel.Choose(false, true) {
		return h
	}
	java, err := minihdfs.Examples(t.Context(), "")
	if err == nil {
		_, err = java.Run(t.Context(), "org.apache.hadoop.util.VersionInfo")
	}
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv(minihdfs.RequireEnv) == "1" {
			t.Fatalf("no Hadoop to compare with: %v", err)
		}
		t.Skipf("no Hadoop to compare with: %v", err)
	}
	h.java = java
	return h
}

// run runs a program of Hadoop, whose args name out as the output, and returns the output.
func (h *hadoop) run(out, name string, args ...string) string {
	h.t.Helper()
	line := append([]string{name, "-D", "hadoop.tmp.dir=" + h.temp}, args...)
	if _, err := h.java.Run(h.t.Context(), "org.apache.hadoop.examples.ExampleDriver", line...); err != nil {
		h.t.Fatal(err)
	}
	return strings.Join(mrtest.Parts(h.t, out), "")
}

// equals compares an output with that of Hadoop. change is applied to both; nil for none.
func (h *hadoop) equals(name, got string, change func(string) string, run func() string) {
	h.t.Helper()
	if change == nil {
		change = func(s string) string { return s }
	}
	got = change(got)
	if h.java == nil {
		if want := h.recorded[name]; digest(got) != want {
			h.t.Errorf("%s: %d bytes of SHA-256 %s, Hadoop writes %s; make nightly shows the difference", name, len(got), digest(got), want)
		}
		return
	}
	want := change(run())
	extest.Equal(h.t, got, want)
	if *update {
		h.recorded[name] = digest(want)
		data, err := json.MarshalIndent(h.recorded, "", "\t")
		if err == nil {
			err = os.WriteFile(digests, append(data, '\n'), 0o644)
		}
		must.Do(h.t, err)
	} else if h.recorded[name] != digest(want) {
		h.t.Errorf("%s: Hadoop writes something else than recorded; run it with -update", name)
	}
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// ours runs one of the bundled programs and returns its output.
func ours(t *testing.T, p *mr.Program, out string, args ...string) string {
	t.Helper()
	if got := mrtest.Exec(t, p, args...); got.Code != mr.ExitDone {
		t.Fatalf("%s %q: exit code %d\n%s", p.Name, args, got.Code, got.Stderr)
	}
	return strings.Join(mrtest.Parts(t, out), "")
}

func TestTerasortLikeHadoop(t *testing.T) {
	h, dir := newHadoop(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }

	rows := ours(t, teragen.Program(), path("rows"), "20k", path("rows"))
	h.equals("teragen", rows, nil, func() string { return h.run(path("their-rows"), "teragen", "20k", path("their-rows")) })
	sorted := ours(t, terasort.Program(), path("sorted"), "-D", "mapreduce.job.reduces=3", path("rows"), path("sorted"))
	h.equals("terasort", sorted, nil, func() string { return h.run(path("their-sorted"), "terasort", path("rows"), path("their-sorted")) })
	for _, in := range []string{"sorted", "rows"} { // the input "rows" is not sorted
		out, theirs := path(in+"-report"), path(in+"-their-report")
		got := ours(t, teravalidate.Program(), out, path(in), out)
		if len(got) < len("checksum\t") {
			t.Fatalf("teravalidate: no report")
		}
		h.equals("teravalidate of "+in, got, sortLines, func() string { return h.run(theirs, "teravalidate", path(in), theirs) })
	}
}

func TestTextProgramsLikeHadoop(t *testing.T) {
	h, dir := newHadoop(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	text := mrtest.File(t, "text", extest.Text(extest.Lines(1, 3000))+"form\ffeed carriage\rreturn\r\nno-break\u00a0space")

	got := ours(t, wordcount.Program(), path("wc"), text, path("wc"))
	h.equals("wordcount", got, nil, func() string { return h.run(path("their-wc"), "wordcount", text, path("their-wc")) })

	got = ours(t, grep.Program(), path("grep"), text, path("grep"), `w(\d)\d*`, "1")
	// Hadoop does not define the order of equal counts.
	h.equals("grep", got, sortLines, func() string { return h.run(path("their-grep"), "grep", text, path("their-grep"), `w(\d)\d*`, "1") })

	numbers := mrtest.File(t, "numbers", "7 1\n-7 2\n7 -1\n0\n\n3\t2 x\n-2147483648 2147483647\n")
	got = ours(t, secondarysort.Program(), path("ss"), numbers, path("ss"))
	h.equals("secondarysort", got, nil, func() string { return h.run(path("their-ss"), "secondarysort", numbers, path("their-ss")) })
}

// TestHadoopReadsRandomwriter lets Hadoop sort the output of randomwriter, and reads
// Hadoop's output.
//
// Gate: examples/benchmarks.TestRandomwriter, internal/data/format/seqfile.TestFilesOfHadoop, internal/data/format/seqfile.TestPlainFilesEqualHadoops
func TestHadoopReadsRandomwriter(t *testing.T) {
	testlevel.Nightly(t)
	h, dir := newHadoop(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	ours(t, randomwriter.Program(), path("random"), "-D", "mapreduce.randomwriter.totalbytes=300000",
		"-D", "mapreduce.randomwriter.bytespermap=100000", path("random"))
	h.run(path("sorted"), "sort", path("random"), path("sorted"))

	read := mr.MapOnly("read", mr.SequenceFile(mr.BytesWritable, mr.BytesWritable),
		mr.MapFunc(func(_ *mr.Task, key, value []byte, out mr.Emitter[string, string]) error {
			out.Emit(hex.EncodeToString(key), hex.EncodeToString(value))
			return nil
		}), mr.TextOutput[string, string]())
	program := &mr.Program{Name: "read", Jobs: []mr.Runnable{read}}
	want := ours(t, program, path("random-text"), path("random"), path("random-text"))
	got := ours(t, program, path("sorted-text"), path("sorted"), path("sorted-text"))
	extest.Equal(t, sortLines(got), sortLines(want))
}

func sortLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}
