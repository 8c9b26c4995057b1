package fsshell

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/minihdfs"
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

func TestAgreesWithHadoop(t *testing.T) {
	if testing.Short() {
		t.Skip("Java is started")
	}
	jars, err := minihdfs.Jars(t.Context())
	if err != nil {
		t.Skip(err)
	}
	hadoopDir, ourDir := sampleTree(t), sampleTree(t)
	script := filepath.Join(t.TempDir(), "script")
	put1(t, script, strings.ReplaceAll(comparison, "DIR", hadoopDir))
	conf := t.TempDir()
	put1(t, conf+"/core-site.xml", "<configuration/>")
	put1(t, conf+"/log4j.properties", "log4j.rootLogger=OFF\n")

	java := minihdfs.Java{Jars: jars, Conf: conf}
	out, err := java.Run(t.Context(), "testdata/java/Shell.java", script)
	if err != nil {
		t.Fatal(err)
	}
	want := transcript(strings.ReplaceAll(string(out), hadoopDir, "DIR"))
	got := transcript(strings.ReplaceAll(runAll(t, ourDir), ourDir, "DIR"))
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("ours:\n%s\nHadoop's:\n%s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d commands, Hadoop ran %d", len(got), len(want))
	}
}

// sampleTree creates files with old modification times.
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
	sequences, _ := filepath.Glob("../format/seqfile/testdata/hadoop/*.seq")
	for _, name := range sequences {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		put1(t, filepath.Join(dir, "seq", filepath.Base(name)), string(content))
	}
	for _, name := range []string{"f1", "g1", "f2.gz", "long", "empty", "one", "sub/deep", "sub", "."} {
		when := time.Date(2024, 2, 29, 23, 59, 58, 123e6, time.Local)
		if err := os.Chtimes(filepath.Join(dir, "tree", name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runAll(t *testing.T, dir string) string {
	t.Helper()
	w, _ := onDisk(t)
	w.env.Zone = nil
	var out strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(comparison, "DIR", dir)) {
		output, code := w.run(strings.Fields(line)...)
		fmt.Fprintf(&out, "$ %s%src=%d\n", line, output, code)
	}
	return out.String()
}

var directorySize = regexp.MustCompile(`(?m)^(d.*) +[0-9.]+( K)? (\d{4}-)`)

// transcript splits an output into commands and what each printed. Recursive listings are
// sorted.
func transcript(out string) []string {
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
	return commands
}
