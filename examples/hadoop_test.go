package examples

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/grep"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/randomwriter"
	"github.com/hammr/hammr/examples/secondarysort"
	"github.com/hammr/hammr/examples/teragen"
	"github.com/hammr/hammr/examples/terasort"
	"github.com/hammr/hammr/examples/teravalidate"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// hadoop runs Hadoop's own programs one after another, each in its own process.
type hadoop struct {
	t    *testing.T
	java *minihdfs.Java
	temp string
}

// newHadoop skips the test if Java or the jars are missing, unless they are required.
func newHadoop(t *testing.T) *hadoop {
	t.Helper()
	if testing.Short() {
		t.Skip("Hadoop's programs take seconds each")
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
	return &hadoop{t: t, java: java, temp: t.TempDir()}
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

	rows := h.run(path("rows"), "teragen", "20k", path("rows"))
	if ours(t, teragen.Program(), path("our-rows"), "20k", path("our-rows")) != rows {
		t.Error("teragen: not the rows that Hadoop makes")
	}
	sorted := h.run(path("sorted"), "terasort", path("rows"), path("sorted"))
	if ours(t, terasort.Program(), path("our-sorted"), "-D", "mapreduce.job.reduces=3", path("rows"), path("our-sorted")) != sorted {
		t.Error("terasort: not the rows that Hadoop sorts")
	}
	for _, in := range []string{"sorted", "rows"} { // the input "rows" is not sorted
		out, ourOut := path(in+"-report"), path(in+"-our-report")
		want := h.run(out, "teravalidate", path(in), out)
		got := ours(t, teravalidate.Program(), ourOut, path(in), ourOut)
		if len(want) < len("checksum\t") {
			t.Fatalf("teravalidate: no report from Hadoop")
		}
		extest.Equal(t, sortLines(got), sortLines(want))
	}
}

func TestTextProgramsLikeHadoop(t *testing.T) {
	h, dir := newHadoop(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	text := mrtest.File(t, "text", extest.Text(extest.Lines(1, 3000))+"form\ffeed carriage\rreturn\r\nno-break\u00a0space")

	want := h.run(path("wc"), "wordcount", text, path("wc"))
	extest.Equal(t, ours(t, wordcount.Program(), path("our-wc"), text, path("our-wc")), want)

	want = h.run(path("grep"), "grep", text, path("grep"), `w(\d)\d*`, "1")
	got := ours(t, grep.Program(), path("our-grep"), text, path("our-grep"), `w(\d)\d*`, "1")
	extest.Equal(t, sortLines(got), sortLines(want)) // Hadoop does not define the order of equal counts

	numbers := mrtest.File(t, "numbers", "7 1\n-7 2\n7 -1\n0\n\n3\t2 x\n-2147483648 2147483647\n")
	want = h.run(path("ss"), "secondarysort", numbers, path("ss"))
	extest.Equal(t, ours(t, secondarysort.Program(), path("our-ss"), numbers, path("our-ss")), want)
}

// TestHadoopReadsRandomwriter lets Hadoop sort the output of randomwriter, and reads
// Hadoop's output.
func TestHadoopReadsRandomwriter(t *testing.T) {
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
