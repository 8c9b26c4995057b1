package seqfile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/writable"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage/local"
)

// print formats the records of a file as `hadoop fs -text` does.
func print(t *testing.T, in format.Open) string {
	t.Helper()
	in.Range = whole()
	r, err := Open(context.Background(), in)
	must.Do(t, err)
	defer r.Close()
	showKey, _ := writable.PrinterOf(r.Header().KeyClass)
	showValue, ok := writable.PrinterOf(r.Header().ValueClass)
	if !ok {
		t.Fatalf("class %s", r.Header().ValueClass)
	}
	var out []byte
	for r.Next() {
		if out, err = showKey(out, r.Key()); err != nil {
			t.Fatal(err)
		}
		out = append(out, '\t')
		if out, err = showValue(out, r.Value()); err != nil {
			t.Fatal(err)
		}
		out = append(out, '\n')
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return string(out)
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	must.Do(t, err)
	return data
}

// pairOf returns the last part of a name like BLOCK-GzipCodec-bytes.seq.
func pairOf(name string) string {
	base := strings.TrimSuffix(filepath.Base(name), ".seq")
	return base[strings.LastIndexByte(base, '-')+1:]
}

// TestFilesOfHadoop reads files that Hadoop 3.4.3 has written with
// testdata/java/SeqFiles.java. Each .txt file has the records that Hadoop reads from all
// files of a pair of classes.
func TestFilesOfHadoop(t *testing.T) {
	files, err := filepath.Glob("testdata/hadoop/*.seq")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			want := readFile(t, "testdata/hadoop/"+pairOf(name)+".txt")
			in := store(t, readFile(t, name))
			if got := print(t, in); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			checkCutsOfHadoop(t, in)
		})
	}
}

// checkCutsOfHadoop splits a file at many places and reads both parts.
func checkCutsOfHadoop(t *testing.T, in format.Open) {
	t.Helper()
	records, positions, err := readRange(in, whole())
	must.Do(t, err)
	for cut := int64(0); cut <= in.Size; cut += 1 + in.Size/15 {
		p := positions[0]
		p.Offset = cut
		checkCut(t, in, p, records)
	}
}

// TestPlainFilesEqualHadoops writes files with the header and records of Hadoop's
// uncompressed files. They must have the same bytes as Hadoop's.
func TestPlainFilesEqualHadoops(t *testing.T) {
	for _, pair := range []string{"text", "bytes", "ints", "vints", "floats", "nulls"} {
		want := readFile(t, "testdata/hadoop/NONE-"+pair+".seq")
		in := store(t, want)
		in.Range = whole()
		r, err := Open(context.Background(), in)
		must.Do(t, err)
		records, _, err := readRange(in, whole())
		must.Do(t, err)
		if got := write(t, Options{Header: r.Header(), SyncInterval: 200}, records); !bytes.Equal(got, want) {
			t.Errorf("%s: the file differs from Hadoop's", pair)
		}
		r.Close()
	}
}

var codecsOfHadoop = []string{"DefaultCodec", "GzipCodec", "BZip2Codec", "SnappyCodec"}

// hadoop returns a function that runs testdata/java/SeqFiles.java.
func hadoop(t *testing.T) (run func(args ...string)) {
	t.Helper()
	jars, err := minihdfs.Jars(t.Context())
	if err != nil {
		t.Skip(err)
	}
	java := minihdfs.Java{Jars: jars, Conf: emptyConf(t)}
	return func(args ...string) {
		t.Helper()
		if out, err := java.Run(t.Context(), "testdata/java/SeqFiles.java", args...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

func emptyConf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte("<configuration/>"), 0o644))
	return dir
}

// TestHadoopWritesWeRead reads files that Hadoop writes now, of more records than those in testdata.
//
// Gate: TestFilesOfHadoop
func TestHadoopWritesWeRead(t *testing.T) {
	testlevel.Nightly(t)
	run, dir := hadoop(t), t.TempDir()
	run(append([]string{"write", dir, "300"}, codecsOfHadoop...)...)
	files, _ := filepath.Glob(dir + "/*.seq")
	if want := 6 * (1 + 2*len(codecsOfHadoop)); len(files) != want {
		t.Fatalf("%d files, want %d", len(files), want)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		must.Do(t, err)
		got := print(t, format.Open{FS: local.New(local.Options{}), Path: name, Size: info.Size()})
		want := string(readFile(t, name+".txt"))
		if pairOf(name) == "floats" {
			want = fewestDigits(t, want)
		}
		if got != want {
			t.Errorf("%s: %d bytes of text differ from Hadoop's %d", filepath.Base(name), len(got), len(want))
		}
	}
}

// fewestDigits formats the floats in a text with the shortest representation: before Java
// 19, toString sometimes uses more digits than necessary.
func fewestDigits(t *testing.T, text string) string {
	t.Helper()
	showKey, _ := writable.PrinterOf(writable.Float.Class)
	showValue, _ := writable.PrinterOf(writable.Double.Class)
	var out []byte
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		k, err := strconv.ParseFloat(key, 32)
		must.Do(t, err)
		v, err := strconv.ParseFloat(value, 64)
		must.Do(t, err)
		out, _ = showKey(out, writable.Float.Append(nil, float32(k)))
		out, _ = showValue(append(out, '\t'), writable.Double.Append(nil, v))
		out = append(out, '\n')
	}
	return string(out)
}

// TestWeWriteHadoopReads lets Hadoop read files of every codec.
//
// Gate: TestPlainFilesEqualHadoops, TestRoundTrip, internal/data/format/compress.TestToolsAgree
func TestWeWriteHadoopReads(t *testing.T) {
	testlevel.Nightly(t)
	run, dir := hadoop(t), t.TempDir()
	args := []string{"read"}
	for _, pair := range []string{"bytes", "nulls", "vints"} {
		for _, codec := range append(codecsOfHadoop, "") {
			args = append(args, rewrite(t, dir, pair, codec)...)
		}
	}
	for _, codec := range codecsOfHadoop {
		h := textHeader(Block)
		h.Codec = "org.apache.hadoop.io.compress." + codec
		args = append(args, writePieces(t, dir, "long", Options{Header: h}, longRecords())...)
	}
	run(args...)
	for _, name := range args[1:] {
		if pairOf(name) == "long" {
			checkLong(t, name)
			continue
		}
		want := string(readFile(t, "testdata/hadoop/"+pairOf(name)+".txt"))
		if got := string(readFile(t, name+".txt")); got != want {
			t.Errorf("%s: Hadoop reads\n%s\nwant\n%s", filepath.Base(name), got, want)
		}
	}
}

// rewrite writes the records of a pair with a codec ("" for none), in two pieces, and
// returns the files.
func rewrite(t *testing.T, dir, pair, codec string) (files []string) {
	t.Helper()
	in := store(t, readFile(t, "testdata/hadoop/NONE-"+pair+".seq"))
	in.Range = whole()
	r, err := Open(context.Background(), in)
	must.Do(t, err)
	defer r.Close()
	records, _, _ := readRange(in, whole())
	kinds := []Compression{None}
	h := r.Header()
	if codec != "" {
		kinds, h.Codec = []Compression{Record, Block}, "org.apache.hadoop.io.compress."+codec
	}
	for _, h.Compression = range kinds {
		o := Options{Header: h, SyncInterval: 300, BlockSize: 500}
		files = append(files, writePieces(t, dir, pair, o, records)...)
	}
	return files
}

// writePieces writes a file in two pieces.
func writePieces(t *testing.T, dir, pair string, o Options, records []record) []string {
	t.Helper()
	half := len(records) / 2
	data := write(t, o, records[:half])
	o.Continue = true
	data = append(data, write(t, o, records[half:])...)
	codec := o.Header.Codec[strings.LastIndexByte(o.Header.Codec, '.')+1:]
	name := filepath.Join(dir, o.Header.Compression.String()+"-"+codec+"-"+pair+".seq")
	must.Do(t, os.WriteFile(name, data, 0o644))
	return []string{name}
}

// longRecords returns records that are larger than the buffers of Hadoop's codecs.
func longRecords() []record {
	var records []record
	for i, word := range []string{"x", "some more words "} {
		value := strings.Repeat(word, 9_000_000/len(word))
		records = append(records, record{
			string(writable.String.Append(nil, strconv.Itoa(i))),
			string(writable.String.Append(nil, value)),
		})
	}
	return records
}

func checkLong(t *testing.T, name string) {
	t.Helper()
	var want []byte
	show, _ := writable.PrinterOf(writable.Text.Class)
	for _, r := range longRecords() {
		want, _ = show(want, []byte(r.key))
		want, _ = show(append(want, '\t'), []byte(r.value))
		want = append(want, '\n')
	}
	if got := readFile(t, name+".txt"); !bytes.Equal(got, want) {
		t.Errorf("%s: Hadoop reads %d bytes, want %d", filepath.Base(name), len(got), len(want))
	}
}
