package e2e

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestBrokenCompressedInput reads a file with a wrong byte. The error names the file and an offset. The
// tests of the formats have every kind of damage.
func TestBrokenCompressedInput(t *testing.T) {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, err := w.Write(readFile(t, proseFile(t, "text", 256<<10)))
	must.Do(t, errors.Join(err, w.Close()))
	in, out := newFile(t, "in.gz", flipped(file.Bytes(), file.Len()/2)), filepath.Join(t.TempDir(), "out")
	r := run(t, "run", "wordcount", "-D", "mapreduce.map.maxattempts=2", in, out)
	r.want(t, 1, "file://"+in, "corrupt data")
	wantPlace(t, r.stderr, "file://"+in, file.Len())
	noOutput(t, out)
}

// flipped returns content with one byte changed.
func flipped(content []byte, at int) []byte {
	content = slices.Clone(content)
	content[at] ^= 0xff
	return content
}

// wantPlace checks that a message names the file and an offset within it.
func wantPlace(t *testing.T, message, name string, size int) {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(name) + `\b.*?(?:byte|after|offset) (\d+)`).FindStringSubmatch(message)
	if m == nil {
		t.Fatalf("no place in %s is named:\n%s", name, message)
	}
	if at, err := strconv.Atoi(m[1]); err != nil || at < 0 || at > size {
		t.Errorf("the place %s is not within the %d bytes of %s", m[1], size, name)
	}
}

// TestSegmentCorruptedOnDisk changes a byte of a map's output between map and reduce. The
// job detects it and runs the map again, and the output is right.
func TestSegmentCorruptedOnDisk(t *testing.T) {
	in := binaryLines(t, "in", 3<<20)
	dir := t.TempDir()
	local, out := filepath.Join(dir, "local"), filepath.Join(dir, "out")
	g := newGate(t, "map", 2<<20)
	// The first map's output is complete when the second map is at the gate.
	p := g.start(t, "--workers", "1", "-D", "mapreduce.cluster.local.dir="+local,
		"-D", "hammr.local.blocksize=1m", "-D", "hammr.input.combine=false", in, out)
	g.wait(t, p)
	files, err := filepath.Glob(local + "/*/*/*/*_m_000000_0/*.out")
	must.Do(t, err)
	if len(files) != 1 {
		t.Fatalf("outputs of the first map: %v", files)
	}
	content := readFile(t, files[0])
	must.Do(t, os.WriteFile(files[0], flipped(content, len(content)/2), 0o644))
	g.open()
	r := p.wait(t)
	r.want(t, 0, files[0], "corrupt", "Launched map tasks=4")
	wantSame(t, parts(t, out, 1), sortedLines(readFile(t, in)))
	wantPlace(t, r.stderr, files[0], len(content))
}

// TestRecordLongerThanLimit expects an error that names the file, the offset and the limit.
func TestRecordLongerThanLimit(t *testing.T) {
	text := append(bytes.Repeat([]byte("short\n"), 10), append(bytes.Repeat([]byte("x"), 5000), '\n')...)
	in, out := newFile(t, "in", text), filepath.Join(t.TempDir(), "out")
	r := run(t, "run", "wordcount", "-D", "mapreduce.input.linerecordreader.line.maxlength=1000", in, out)
	r.want(t, 1, fmt.Sprintf("file://%s: record at byte 60: longer than the limit of 1000 bytes", in))
	noOutput(t, out)
}

// TestLocalFileRemovedDuringJob removes a file that the job has not opened yet.
func TestLocalFileRemovedDuringJob(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(dir+"/in", 0o755))
	content := readFile(t, binaryLines(t, "in", 1<<20))
	for _, name := range []string{"a", "b"} {
		must.Do(t, os.WriteFile(dir+"/in/"+name, content, 0o644))
	}
	g := newGate(t, "map", 1000)
	p := g.start(t, "--workers", "1", "-D", "hammr.input.combine=false", dir+"/in", dir+"/out")
	g.wait(t, p)
	must.Do(t, os.Remove(dir+"/in/b"))
	g.open()
	p.wait(t).want(t, 1, "file://"+dir+"/in/b", "no such file")
	noOutput(t, dir+"/out")
}

// TestLocalFileTruncatedDuringJob truncates the file that is being read, and one that has not
// been opened yet.
func TestLocalFileTruncatedDuringJob(t *testing.T) {
	in, out := binaryLines(t, "in", 8<<20), filepath.Join(t.TempDir(), "out")
	g := newGate(t, "map", 1000)
	p := g.start(t, "--workers", "1", "-D", "hammr.local.blocksize=4m", in, out)
	g.wait(t, p)
	must.Do(t, os.Truncate(in, 5<<20))
	g.open()
	p.wait(t).want(t, 1, "file://"+in)
	noOutput(t, out)
}
