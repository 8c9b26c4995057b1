package mr_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestInputsOfDifferentFormats joins four inputs, each with its own format and mapper. The
// last input takes all remaining arguments of the command line.
func TestInputsOfDifferentFormats(t *testing.T) {
	type city struct{ Name, Land string }
	job := mr.New("formats", mr.TextStrings(), pairs, lists, mr.TextOutput[string, string]())
	mr.AddInput(job, mr.JSONLines[city](), mr.MapFunc(func(_ *mr.Task, _ int64, c city, out textEmitter) error {
		out.Emit(c.Land, "json:"+c.Name)
		return nil
	}))
	mr.AddInput(job, mr.FixedLength(4), mr.MapFunc(func(_ *mr.Task, offset int64, b []byte, out textEmitter) error {
		out.Emit(string(b[:2]), fmt.Sprintf("fixed:%d:%s", offset, b[2:]))
		return nil
	}))
	mr.AddInput(job, mr.KeyValueText(), mr.MapFunc(func(_ *mr.Task, key, value []byte, out textEmitter) error {
		out.Emit(string(key), "kv:"+string(value))
		return nil
	}))
	got := mrtest.Run(t, job, "fr lyon\n", `{"Name":"Bonn","Land":"de"}`+"\n", "de##fr??", "de\tx\n", "fr\ty\tz\nus\n").Text()
	if want := "de\tjson:Bonn,fixed:0:##,kv:x\nfr\tlyon,fixed:4:??,kv:y\tz\nus\tkv:\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

func TestSequenceFileReadsWhatItWrote(t *testing.T) {
	written := mr.New("write", mr.TextLines(), words, mr.Sum[string, int64](), mr.SequenceOutput(mr.TextString, mr.LongWritable))
	read := mr.New("read", mr.SequenceFile(mr.TextString, mr.LongWritable), mr.IdentityMapper[string, int64](),
		mr.IdentityReducer[string, int64](), mr.TextOutput[string, int64]())
	for _, compress := range []string{"NONE", "RECORD", "BLOCK"} {
		dir, again := outputDir(t), outputDir(t)
		mrtest.Command(t, written, "-D", "mapreduce.output.fileoutputformat.compress="+strconv.FormatBool(compress != "NONE"),
			"-D", "mapreduce.output.fileoutputformat.compress.type="+compress, inputDir(t, "c b c\na\n"), dir)
		if got, want := mrtest.Command(t, read, dir, again), "a\t1\nb\t1\nc\t2\n"; got != want {
			t.Errorf("%s: read back %q, want %q", compress, got, want)
		}
		wrong := mr.MapOnly("wrong", mr.SequenceFile(mr.LongWritable, mr.LongWritable), mr.IdentityMapper[int64, int64](), mr.TextOutput[int64, int64]())
		fails(t, wrong, mr.ExitFailed, []string{dir, outputDir(t)},
			"SequenceFile of org.apache.hadoop.io.Text and org.apache.hadoop.io.LongWritable, but the job reads org.apache.hadoop.io.LongWritable")
	}
}

func TestWholeFilesAndNLine(t *testing.T) {
	dir := inputDir(t, "a\nb", "", "c")
	whole := mr.MapOnly("whole", mr.WholeFiles(), mr.MapFunc(func(_ *mr.Task, name string, content []byte, out textEmitter) error {
		out.Emit(name[strings.LastIndex(name, "/")+1:], strconv.Quote(string(content)))
		return nil
	}), mr.TextOutput[string, string]())
	if got, want := mrtest.Command(t, whole, dir, outputDir(t)), "in-0\t\"a\\nb\"\nin-1\t\"\"\nin-2\t\"c\"\n"; got != want {
		t.Errorf("whole files %q, want %q", got, want)
	}
	nline := mr.MapOnly("nline", mr.NLine(), mr.MapFunc(func(_ *mr.Task, offset int64, line []byte, out textEmitter) error {
		out.Emit(fmt.Sprint(offset), string(line))
		return nil
	}), mr.TextOutput[string, string]())
	out := outputDir(t)
	mrtest.Command(t, nline, "-D", "mapreduce.input.lineinputformat.linespermap=2", inputDir(t, "a\nb\nc\nd\ne\n"), out)
	wantFiles(t, out, map[string]string{"part-m-00000": "0\ta\n2\tb\n", "part-m-00001": "4\tc\n6\td\n", "part-m-00002": "8\te\n"})
}

// letters is a user's input without files. Each split has three letters of the alphabet in
// its Custom bytes.
type letters struct{ fault string }

func (in letters) Splits(_ context.Context, env *mr.InputEnv) ([]mr.Split, error) {
	if in.fault == "splits" {
		return nil, errors.New("input that cannot be cut")
	}
	n, err := strconv.Atoi(env.Property("test.letters"))
	var all []mr.Split
	for at := 0; at < n; at += 3 {
		length := min(3, n-at)
		all = append(all, mr.Split{
			Parts:  []mr.Part{{Start: int64(at), Length: int64(length), FileSize: int64(n)}},
			Custom: []byte("abcdefghijklmnopqrstuvwxyz"[at : at+length]),
		})
	}
	return all, err
}

func (in letters) Open(_ *mr.Task, s mr.Split) (mr.Reader[int64, string], error) {
	if in.fault == "open" {
		return nil, errors.New("input that cannot be opened")
	}
	first := s.Parts[0].Start
	r := &letterReader{fault: in.fault, first: first, at: s.Range.Start.Offset + s.Range.Start.Skip - 1, end: s.Range.End.Offset + s.Range.End.Skip, text: string(s.Custom)}
	r.at, r.end = max(r.at, first-1), min(r.end, first+s.Parts[0].Length)
	return r, nil
}

type letterReader struct {
	fault          string
	first, at, end int64
	text           string
}

func (r *letterReader) Next() bool {
	r.at++
	if r.fault == "panic" {
		panic("reader that panics")
	}
	return r.at < r.end && r.fault != "read"
}

func (r *letterReader) Record() (int64, string) {
	return r.at, r.text[r.at-r.first : r.at-r.first+1]
}

func (r *letterReader) Position() mr.Position { return mr.Position{Offset: max(r.at, r.first)} }
func (r *letterReader) Close() error          { return nil }

func (r *letterReader) Err() error {
	if r.fault == "read" {
		return errors.New("input that cannot be read")
	}
	return nil
}

func letterJob(fault string) *mr.Job[int64, string, int64, string] {
	return mr.New("letters", mr.Input[int64, string](letters{fault}), mr.IdentityMapper[int64, string](),
		mr.IdentityReducer[int64, string](), mr.TextOutput[int64, string]()).Set("test.letters", "7")
}

func TestCustomInput(t *testing.T) {
	out := mrtest.Run(t, letterJob(""))
	if got, want := out.Text(), "0\ta\n1\tb\n2\tc\n3\td\n4\te\n5\tf\n6\tg\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	if got := systemCounter(out.Counters, "Map input records"); got != 7 {
		t.Errorf("%d input records, want 7", got)
	}
}

func TestCustomInputFails(t *testing.T) {
	for fault, want := range map[string]string{
		"splits": "letters: input that cannot be cut", "open": "input that cannot be opened",
		"read": "input that cannot be read", "panic": "panic: reader that panics",
	} {
		dir := outputDir(t)
		fails(t, letterJob(fault), mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t), dir}, want)
		gone(t, dir)
	}
}
