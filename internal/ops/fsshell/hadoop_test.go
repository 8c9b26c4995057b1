package fsshell

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// comparison has commands that both shells run on a tree. Hadoop's recursive listings show
// local files in the order of the disk, and directories with their size on disk; transcript
// removes both differences.
const comparison = `-ls DIR/tree
-ls -h DIR/tree
-ls -S DIR/tree
-ls -C -r DIR/tree
-ls -R DIR/tree
-ls -d DIR/tree
-ls DIR/tree/f*
-ls DIR/nope
-ls DIR/no*
-ls file://DIR/tree
-ls DIR/tree/{f1,sub}
-cat DIR/tree/f1 DIR/nope DIR/tree
-cat DIR/tree/[fg]1
-text DIR/tree/f1 DIR/tree/f2.gz DIR/tree/empty DIR/tree/one
-text DIR/seq/NONE-bytes.seq DIR/seq/BLOCK-DefaultCodec-nulls.seq
-text DIR/seq/RECORD-BZip2Codec-bytes.seq DIR/seq/NONE-floats.seq
-du DIR/tree
-du -h -v DIR/tree
-du -s DIR/tree
-du DIR/tree/f1
-stat %n|%F|%u|%g|%y|%Y|%a|%A|%l|%%|%z| DIR/tree DIR/tree/f1
-stat %b,%r DIR/tree/f1
-stat DIR/tree/f1
-count DIR/tree DIR/tree/f1
-count -v -h DIR/tree
-head DIR/tree/long
-tail DIR/tree/long
-test -e DIR/tree
-test -e DIR/nope
-test -d DIR/tree/f1
-test -z DIR/tree/empty
-test -f DIR/tree
-test -s DIR/tree/empty
-mkdir DIR/tree
-mkdir DIR/new/below
-mkdir -p DIR/new/below
-mkdir DIR/tree/f1
-mkdir -p DIR/tree/f1/x
-mkdir DIR/tree/f1/x
-touchz DIR/new/z
-touchz DIR/tree/f1
-touchz DIR/tree
-touchz DIR/qq/z
-put DIR/tree/f1 DIR/tree/f1
-put DIR/nope DIR/x
-put DIR/tree/f1 DIR/zz/y
-put DIR/tree/f1 DIR/tree/long DIR/none
-put DIR/tree DIR/new/copy
-cp DIR/tree DIR/tree/sub
-cp DIR/tree DIR/tree
-cp DIR/tree/f1 DIR/new/f1
-cp DIR/tree/f1 DIR/new/f1
-cp -f DIR/tree/long DIR/new/f1
-get DIR/tree/f1 DIR/new
-get DIR/new/copy DIR/got
-mv DIR/new/f1 DIR/new/f2
-mv DIR/nope DIR/x
-mv DIR/new/f2 DIR/tree/f1
-mv DIR/new DIR/new/copy
-mv DIR/new/f2 DIR/nodir/x
-ls -R -C DIR/new
-ls -R -C DIR/got
-rm DIR/nope
-rm DIR/new
-rm -f DIR/nope DIR/no*
-rmdir DIR/new
-rmdir DIR/nope
-rm -r DIR/new DIR/got
`

// hadoopFile has what Hadoop prints for comparison. It is recorded by
//
//	HAMMR_TESTS=nightly go test ./internal/ops/fsshell -run TestRecordedFromHadoop -update
const hadoopFile = "testdata/hadoop.txt"

// TestAgreesWithHadoop compares with what Hadoop has printed.
func TestAgreesWithHadoop(t *testing.T) {
	recorded, err := os.ReadFile(hadoopFile)
	must.Do(t, err)
	want := strings.SplitAfter(string(recorded), "\n$ ")
	if commands := strings.Count(comparison, "\n"); len(want) != commands {
		t.Errorf("%d commands, Hadoop has run %d", commands, len(want))
	}
	dir := sampleTree(t)
	sameTranscript(t, strings.SplitAfter(transcript(t, runAll(t, dir), dir), "\n$ "), want)
}

// TestRecordedFromHadoop runs the commands by Hadoop, and compares with what it has printed before.
//
// Gate: TestAgreesWithHadoop
func TestRecordedFromHadoop(t *testing.T) {
	testlevel.Nightly(t)
	t.Setenv("TZ", "UTC")
	jars, err := minihdfs.Jars(t.Context())
	if err != nil {
		t.Skip(err)
	}
	dir := sampleTree(t)
	script := filepath.Join(t.TempDir(), "script")
	put1(t, script, strings.ReplaceAll(comparison, "DIR", dir))
	conf := t.TempDir()
	put1(t, conf+"/core-site.xml", "<configuration/>")
	put1(t, conf+"/log4j.properties", "log4j.rootLogger=OFF\n")
	java := minihdfs.Java{Jars: jars, Conf: conf}
	out, err := java.Run(t.Context(), "testdata/java/Shell.java", script)
	must.Do(t, err)
	got := transcript(t, string(out), dir)
	if *update {
		put1(t, hadoopFile, got)
	}
	recorded, err := os.ReadFile(hadoopFile)
	must.Do(t, err)
	sameTranscript(t, strings.SplitAfter(got, "\n$ "), strings.SplitAfter(string(recorded), "\n$ "))
}

// sameTranscript compares commands and what they have printed.
func sameTranscript(t *testing.T, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("got:\n%s\nHadoop's:\n%s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d commands, Hadoop ran %d", len(got), len(want))
	}
}

// sampleTree creates files with the same modes and modification times everywhere.
func sampleTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"tree/f1":       "a\nb\n",
		"tree/g1":       "grüße\n",
		"tree/f2.gz":    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcbH\xcd\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06\x00\x00\x00",
		"tree/long":     strings.Repeat("0123456789abcdef\n", 500),
		"tree/empty":    "",
		"tree/one":      "1",
		"tree/sub/deep": strings.Repeat("z", 5000),
	} {
		put1(t, filepath.Join(dir, name), content)
	}
	sequences, _ := filepath.Glob("../../data/format/seqfile/testdata/hadoop/*.seq")
	for _, name := range sequences {
		content, err := os.ReadFile(name)
		must.Do(t, err)
		put1(t, filepath.Join(dir, "seq", filepath.Base(name)), string(content))
	}
	when := time.Date(2024, 2, 29, 23, 59, 58, 123e6, time.UTC)
	for _, name := range []string{"f1", "g1", "f2.gz", "long", "empty", "one", "sub/deep", "sub", "."} {
		mode := os.FileMode(0o644)
		if name == "sub" || name == "." {
			mode = 0o755
		}
		path := filepath.Join(dir, "tree", name)
		if err := errors.Join(os.Chmod(path, mode), os.Chtimes(path, when, when)); err != nil { // the umask does not matter
			t.Fatal(err)
		}
	}
	return dir
}

func runAll(t *testing.T, dir string) string {
	t.Helper()
	w, _ := onDisk(t)
	w.env.Zone = time.UTC
	var out strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(comparison, "DIR", dir)) {
		output, code := w.run(strings.Fields(line)...)
		fmt.Fprintf(&out, "$ %s%src=%d\n", line, output, code)
	}
	return out.String()
}

var directorySize = regexp.MustCompile(`(?m)^(d.*) +[0-9.]+( K)? (\d{4}-)`)

// transcript makes the output of commands in a directory independent of the machine: recursive listings are sorted,
// and DIR and USER stand for the directory, and for this user and group.
func transcript(t *testing.T, out, dir string) string {
	t.Helper()
	out = strings.ReplaceAll(out, dir, "DIR")
	for _, name := range ownNames(t) {
		out = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(out, "USER")
	}
	out = directorySize.ReplaceAllString(out, "$1 SIZE $3")
	out = regexp.MustCompile(` +SIZE`).ReplaceAllString(out, " SIZE")
	commands := strings.Split(out, "\n$ ")
	for i, c := range commands {
		if strings.HasPrefix(c, "-ls -R") || strings.HasPrefix(c, "-du") || strings.HasPrefix(c, "-ls -S") {
			lines := strings.Split(c, "\n")
			slices.Sort(lines[1:])
			commands[i] = strings.Join(lines, "\n")
		}
	}
	return strings.Join(commands, "\n$ ")
}

// ownNames returns the names of this user and of its group.
func ownNames(t *testing.T) []string {
	t.Helper()
	self, err := user.Current()
	must.Do(t, err)
	group, err := user.LookupGroupId(self.Gid)
	must.Do(t, err)
	return []string{self.Username, group.Name}
}
