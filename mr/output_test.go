package mr_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestNamedOutputs writes named outputs from maps and reduces, as text and in another
// format. A task that writes no record creates no file.
func TestNamedOutputs(t *testing.T) {
	var odd *mr.NamedOutput[string, int64]
	var raw *mr.NamedOutput[[]byte, []byte]
	mapper := mr.MapFunc(func(t *mr.Task, offset int64, line string, out textEmitter) error {
		out.Emit(line, line)
		return odd.Emit(t, line, offset)
	})
	reducer := mr.ReduceFunc(func(t *mr.Task, key string, _ iter.Seq[string], out textEmitter) error {
		out.Emit(key, "main")
		if len(key)%2 == 0 {
			return raw.Emit(t, []byte(key), []byte("."))
		}
		return odd.Emit(t, key, int64(len(key)))
	})
	job := mr.New("outputs", mr.TextStrings(), mapper, reducer, mr.TextOutput[string, string]()).
		Partition(func(key string, n int) int { return int(key[0]-'a') % n })
	odd = mr.AddOutput(job, "odd", mr.TextOutput[string, int64]())
	raw = mr.AddOutput(job, "raw", mr.BytesOutput())
	dir := outputDir(t)
	mrtest.Command(t, job, "-D", "mapreduce.job.reduces=3", "-D", "hammr.input.combine=false", inputDir(t, "a\nbb\n", "", "dd\naaa\n"), dir)
	wantFiles(t, dir, map[string]string{
		"part-r-00000": "a\tmain\naaa\tmain\ndd\tmain\n", "part-r-00001": "bb\tmain\n", "part-r-00002": "",
		"odd-m-00000": "a\t0\nbb\t2\n", "odd-m-00002": "dd\t0\naaa\t3\n", "odd-r-00000": "a\t1\naaa\t3\n", "raw-r-00000": "dd.", "raw-r-00001": "bb.",
	})
}

func TestNamedOutputIsCompressedAsTheMainOne(t *testing.T) {
	var other *mr.NamedOutput[string, string]
	job := mr.MapOnly("zip", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out textEmitter) error {
		out.Emit(line, "1")
		return other.Emit(t, line, "2")
	}), mr.TextOutput[string, string]())
	other = mr.AddOutput(job, "other", mr.TextOutput[string, string]())
	dir := outputDir(t)
	mrtest.Command(t, job, "-D", "mapreduce.output.fileoutputformat.compress=true",
		"-D", "mapreduce.output.fileoutputformat.compress.codec=gzip", inputDir(t, "a\n"), dir)
	files := filesIn(t, dir)
	if len(files) != 3 || files["part-m-00000.gz"] == "" || files["other-m-00000.gz"] == "" {
		t.Errorf("files %q", files)
	}
	if got := mrtest.Command(t, identityLines(), dir+"/other-*", outputDir(t)); got != "a\t2\n" {
		t.Errorf("read back %q", got)
	}
}

// identityLines returns a job that writes the lines that it reads.
func identityLines() *mr.Job[string, struct{}, string, struct{}] {
	return mr.MapOnly("lines", mr.TextStrings(), mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[string, struct{}]) error {
		out.Emit(line, struct{}{})
		return nil
	}), mr.TextOutput[string, struct{}]())
}

func TestMapOnly(t *testing.T) {
	dir := outputDir(t)
	mrtest.Command(t, identityLines(), "-D", "mapreduce.input.fileinputformat.split.maxsize=4", inputDir(t, "b\na\n", "z\nb\nc\n"), dir)
	wantFiles(t, dir, map[string]string{"part-m-00000": "b\na\n", "part-m-00001": "z\nb\n", "part-m-00002": "c\n"})
}

func TestOutputNames(t *testing.T) {
	for name, want := range map[string]string{
		"":     `output name "": use letters and digits`,
		"a-b":  `output name "a-b": use letters and digits`,
		"part": `output name "part": use letters and digits, and not "part"`,
		"dup":  `output name "dup": declared twice`,
	} {
		job := wordCount()
		mr.AddOutput(job, name, mr.TextOutput[string, string]())
		mr.AddOutput(job, name, mr.BytesOutput())
		fails(t, job, mr.ExitFailed, []string{inputDir(t), outputDir(t)}, "job wordcount: output name", want)
	}
}

func TestCombinerHasNoNamedOutput(t *testing.T) {
	var side *mr.NamedOutput[string, int64]
	job := wordCount().Combine(mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
		return side.Emit(t, key, 1)
	}))
	side = mr.AddOutput(job, "side", mr.TextOutput[string, int64]())
	dir := outputDir(t)
	fails(t, job, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), dir}, `output "side": not to be written by a combiner`)
	gone(t, dir)
}

// bracketed is a user's output format: one line in brackets. Its writer refuses some keys.
type bracketed struct{}

func (bracketed) Suffix(t *mr.Task) (string, error) { return t.Property("test.suffix"), nil }

func (bracketed) Create(_ *mr.Task, w io.Writer) (mr.RecordWriter[string, int64], error) {
	_, err := io.WriteString(w, "[")
	return &bracketedWriter{w}, err
}

type bracketedWriter struct{ w io.Writer }

func (b *bracketedWriter) Write(key string, value int64) error {
	switch key {
	case "refused":
		return errors.New("writer that refuses a key")
	case "panic":
		panic("writer that panics")
	}
	_, err := fmt.Fprintf(b.w, "%s=%d ", key, value)
	return err
}

func (b *bracketedWriter) Close() error {
	_, err := io.WriteString(b.w, "]")
	return err
}

func bracketedCount() *mr.Job[string, int64, string, int64] {
	return mr.New("brackets", mr.TextLines(), words, mr.Sum[string, int64](), mr.Output[string, int64](bracketed{}))
}

func TestCustomOutput(t *testing.T) {
	dir := outputDir(t)
	mrtest.Command(t, bracketedCount(), "-D", "test.suffix=.list", inputDir(t, "b a b\n"), dir)
	wantFiles(t, dir, map[string]string{"part-r-00000.list": "[a=1 b=2 ]"})
}

func TestCustomOutputFails(t *testing.T) {
	for word, want := range map[string]string{"refused": "writer that refuses a key", "panic": "panic: writer that panics"} {
		dir := outputDir(t)
		got := fails(t, bracketedCount(), mr.ExitFailed, []string{"-D", "mapreduce.reduce.maxattempts=1", inputDir(t, "a "+word+"\n"), dir}, "cause:   "+want)
		if stack := strings.Contains(got.Stderr, "bracketedWriter"); stack != (word == "panic") {
			t.Errorf("%s: stack of the writer shown: %v\n%s", word, stack, got.Stderr)
		}
		gone(t, dir)
	}
}
