package splits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/data/format/text"
	"github.com/hammr/hammr/internal/data/format/whole"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a file system and the files of a job's input in it.
type world struct {
	fs    *mem.FS
	files []File
}

func newWorld() *world {
	return &world{fs: mem.New(mem.Options{Name: "test", BlockSize: 1000, Place: mem.RoundRobin("a", "b", "c")})}
}

// put adds a file with this content, compressed with the codec that its name implies.
func (w *world) put(t *testing.T, path string, data []byte, blockSize int64) {
	t.Helper()
	if c := compress.ByExtension(path); c != nil {
		var b bytes.Buffer
		z, err := c.NewWriter(&b, 0)
		must.Do(t, err)
		_, _ = z.Write(data)
		must.Do(t, z.Close())
		data = b.Bytes()
	}
	f, err := w.fs.Create(context.Background(), path, storage.CreateOptions{BlockSize: blockSize})
	must.Do(t, err)
	_, _ = f.Write(data)
	must.Do(t, f.Close())
	info, err := w.fs.Stat(context.Background(), path)
	must.Do(t, err)
	w.files = append(w.files, File{w.fs, info})
}

func (w *world) cut(t *testing.T, opts Options) []*taskproc.Split {
	t.Helper()
	splits, err := Cut(context.Background(), opts, w.files)
	must.Do(t, err)
	return splits
}

func (w *world) resolve(name string) (storage.FS, string, error) {
	return w.fs, strings.TrimPrefix(name, w.fs.URI()), nil
}

// picture returns one line for each split: "file[start+length) …".
func picture(splits []*taskproc.Split) string {
	var b strings.Builder
	for _, s := range splits {
		for _, p := range s.Parts {
			fmt.Fprintf(&b, "%s[%d+%d) ", strings.TrimPrefix(p.Path, "mem://test/"), p.Start, p.Length)
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func TestFilesAreCutAsHadoopCutsThem(t *testing.T) {
	for _, c := range []struct {
		size int
		opts Options
		want string
	}{
		{0, Options{}, "f[0+0)\n"},
		{1, Options{}, "f[0+1)\n"},
		{1000, Options{}, "f[0+1000)\n"},
		{1100, Options{}, "f[0+1100)\n"}, // the split is longer than the block, but within the slop
		{1101, Options{}, "f[0+1000)\nf[1000+101)\n"},
		{3050, Options{}, "f[0+1000)\nf[1000+1000)\nf[2000+1050)\n"},
		{2000, Options{MaxSize: 700}, "f[0+700)\nf[700+700)\nf[1400+600)\n"},
		{5000, Options{MinSize: 2500}, "f[0+2500)\nf[2500+2500)\n"},
		{5000, Options{MinSize: 2500, MaxSize: 10}, "f[0+2500)\nf[2500+2500)\n"},
		{3000, Options{Splittable: func(string) bool { return false }}, "f[0+3000)\n"},
		{0, Options{EmptyRecords: true}, "f[0+1)\n"},
	} {
		w := newWorld()
		w.put(t, "/f", make([]byte, c.size), 0)
		if got := picture(w.cut(t, c.opts)); got != c.want {
			t.Errorf("%d bytes, %+v:\n%swant\n%s", c.size, c.opts, got, c.want)
		}
	}
}

func TestSmallNeighboursAreCombined(t *testing.T) {
	w := newWorld()
	for i, size := range []int{300, 400, 0, 300, 1, 2500, 999, 2, 1000, 5} {
		w.put(t, fmt.Sprintf("/%d", i), make([]byte, size), 0)
	}
	splits := w.cut(t, Options{Combine: true})
	want := `0[0+300) 1[0+400) 2[0+0) 3[0+300)
4[0+1)
5[0+1000)
5[1000+1000)
5[2000+500)
6[0+999)
7[0+2)
8[0+1000)
9[0+5)
`
	if got := picture(splits); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if n := len(w.cut(t, Options{})); n != 12 {
		t.Errorf("%d splits without combining, want 12", n)
	}
}

func TestHostsAreThoseOfMostBytes(t *testing.T) {
	blocks := []storage.Block{
		{Offset: 0, Length: 100, Hosts: []string{"a", "b"}},
		{Offset: 100, Length: 100, Hosts: []string{"c", "b"}},
		{Offset: 200, Length: 50, Hosts: []string{"d", "e", "f"}},
	}
	for _, c := range []struct {
		start, length int64
		want          []string
	}{
		{0, 100, []string{"a", "b"}},
		{10, 190, []string{"b", "c", "a"}},
		{150, 200, []string{"b", "c", "d"}},
		{240, 10, []string{"d", "e", "f"}},
		{250, 10, nil},
	} {
		l := make(load)
		l.add(blocks, c.start, c.length)
		if got := l.best(); !slices.Equal(got, c.want) {
			t.Errorf("[%d+%d): %v, want %v", c.start, c.length, got, c.want)
		}
	}
	w := newWorld()
	w.put(t, "/f", make([]byte, 2000), 0)
	splits := w.cut(t, Options{})
	if len(splits[0].Hosts) == 0 || slices.Equal(splits[0].Hosts, splits[1].Hosts) {
		t.Errorf("hosts %v, %v", splits[0].Hosts, splits[1].Hosts)
	}
}

func TestUnknownFileIsAnError(t *testing.T) {
	w := newWorld()
	w.put(t, "/f", make([]byte, 10), 0)
	w.files[0].Info.Path = "/gone"
	if _, err := Cut(context.Background(), Options{}, w.files); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "mem://test/gone") {
		t.Errorf("error %v", err)
	}
}

// line is a record as Parts returns it.
type line struct {
	path, value string
	offset      int64
	position    dag.Position
}

func (w *world) read(t *testing.T, open format.Opener, s *taskproc.Split, r dag.Range) []line {
	t.Helper()
	p := OpenParts(context.Background(), w.resolve, open, s, r, format.Open{})
	if p.Position() != r.Start {
		t.Errorf("position %v before the first record of %v", p.Position(), r)
	}
	var lines []line
	for p.Next() {
		lines = append(lines, line{p.Path(), string(p.Value()), p.Offset(), p.Position()})
	}
	must.Do(t, errors.Join(p.Err(), p.Close()))
	return lines
}

// TestSplitsGiveEachLineOnce checks, for any sizes of splits, that the splits return each
// line of each file once, in order. The two parts of a split must return the same lines as
// the whole.
func TestSplitsGiveEachLineOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	w := newWorld()
	var want []string
	for i := range 12 {
		data := make([]byte, random.IntN(200)*random.IntN(2)+random.IntN(30))
		for j := range data {
			data[j] = "ab\r\n"[random.IntN(4)]
		}
		name := fmt.Sprintf("/%02d", i) + []string{"", "", ".gz"}[i%3]
		w.put(t, name, data, 0)
		one := newWorld()
		one.put(t, name, data, 0)
		for _, s := range one.cut(t, Options{MinSize: 1 << 20}) {
			for _, l := range one.read(t, text.Lines(text.Options{}), s, Range(s)) {
				want = append(want, l.path+":"+l.value)
			}
		}
	}
	splittable := func(path string) bool { return text.Splittable(path, nil) }
	for size := int64(1); size < 300; size += 1 + size/3 {
		for _, combine := range []bool{false, true} {
			var got []string
			for _, s := range w.cut(t, Options{MaxSize: size, Combine: combine, Splittable: splittable}) {
				for _, l := range w.read(t, text.Lines(text.Options{}), s, Range(s)) {
					got = append(got, l.path+":"+l.value)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("size %d, combine %v: %d lines, want %d", size, combine, len(got), len(want))
			}
		}
	}
}

// TestSplitsOfUnsplittableFilesAreMarked checks single and combined splits.
func TestSplitsOfUnsplittableFilesAreMarked(t *testing.T) {
	w := newWorld()
	for i, name := range []string{"/0", "/1.gz", "/2", "/3", "/4.gz"} {
		w.put(t, name, make([]byte, 600+i), 0)
	}
	splittable := func(path string) bool { return text.Splittable(path, nil) }
	for combine, want := range map[bool][]bool{true: {true, false, true}, false: {false, true, false, false, true}} {
		var got []bool
		for _, s := range w.cut(t, Options{MaxSize: 1000, Combine: combine, Splittable: splittable}) {
			got = append(got, s.Unsplittable)
		}
		if !slices.Equal(got, want) {
			t.Errorf("combined %v: %v, want %v", combine, got, want)
		}
	}
}

func TestCombinedSplitIsCutAtAnyRecord(t *testing.T) {
	w := newWorld()
	w.put(t, "/0", []byte("one\ntwo\n"), 0)
	w.put(t, "/1", nil, 0)
	w.put(t, "/2.gz", []byte("three\nfour\nfive"), 0)
	w.put(t, "/3", []byte("\n\nsix"), 0)
	splits := w.cut(t, Options{Combine: true})
	if len(splits) != 1 {
		t.Fatalf("%d splits", len(splits))
	}
	s := splits[0]
	open := text.Lines(text.Options{})
	all := w.read(t, open, s, Range(s))
	if len(all) != 8 || all[7].offset != 2 || all[7].path != "mem://test/3" {
		t.Fatalf("lines %v", all)
	}
	for i, l := range all {
		if i > 0 && !all[i-1].position.Less(l.position) {
			t.Errorf("position %v after %v", l.position, all[i-1].position)
		}
		head := w.read(t, open, s, dag.Range{Start: Range(s).Start, End: l.position})
		tail := w.read(t, open, s, dag.Range{Start: l.position, End: Range(s).End})
		if !slices.Equal(append(head, tail...), all) {
			t.Errorf("cut at %v: %v and %v", l.position, head, tail)
		}
	}
}

func TestPartsCountAllTheirBytes(t *testing.T) {
	w := newWorld()
	w.put(t, "/0", []byte("one\ntwo\n"), 0)
	w.put(t, "/1", []byte("three"), 0)
	s := w.cut(t, Options{Combine: true})[0]
	p := OpenParts(context.Background(), w.resolve, text.Lines(text.Options{}), s, Range(s), format.Open{})
	for p.Next() {
	}
	if p.Consumed() != 13 {
		t.Errorf("consumed %d bytes", p.Consumed())
	}
	if err := p.Close(); err != nil || p.Consumed() != 13 {
		t.Errorf("Close: %v, consumed %d", err, p.Consumed())
	}
}

func TestMissingPartIsNamed(t *testing.T) {
	w := newWorld()
	w.put(t, "/0", []byte("one\n"), 0)
	w.put(t, "/1", []byte("two\n"), 0)
	s := w.cut(t, Options{Combine: true})[0]
	must.Do(t, w.fs.Remove(context.Background(), "/1", false))
	p := OpenParts(context.Background(), w.resolve, text.Lines(text.Options{}), s, Range(s), format.Open{})
	defer p.Close()
	if !p.Next() || p.Next() {
		t.Error("want one record")
	}
	if !errors.Is(p.Err(), fs.ErrNotExist) || p.Path() != "mem://test/1" {
		t.Errorf("error %v at %s", p.Err(), p.Path())
	}
}

func TestEmptyFilesAsWholeRecords(t *testing.T) {
	w := newWorld()
	w.put(t, "/0", nil, 0)
	w.put(t, "/1", []byte("x"), 0)
	w.put(t, "/2", nil, 0)
	never := func(string) bool { return false }
	for _, combine := range []bool{false, true} {
		var got []string
		for _, s := range w.cut(t, Options{Combine: combine, EmptyRecords: true, Splittable: never}) {
			for _, l := range w.read(t, whole.Open, s, Range(s)) {
				got = append(got, l.path+":"+l.value)
			}
		}
		if want := []string{"mem://test/0:", "mem://test/1:x", "mem://test/2:"}; !slices.Equal(got, want) {
			t.Errorf("combine %v: %q", combine, got)
		}
	}
}

func TestSplitsOfLines(t *testing.T) {
	w := newWorld()
	w.put(t, "/f", []byte(strings.Repeat("line\n", 10)), 0)
	f := w.files[0]
	o := format.Open{FS: w.fs, Path: "/f", Size: f.Info.Size, Range: dag.Range{End: dag.Position{Offset: f.Info.Size}}}
	ranges, err := text.CutEvery(context.Background(), 4, o, text.Lines(text.Options{}))
	must.Do(t, err)
	splits, err := CutAt(context.Background(), f, ranges)
	must.Do(t, err)
	if got := picture(splits); got != "f[0+20)\nf[20+20)\nf[40+10)\n" {
		t.Errorf("splits\n%s", got)
	}
}

// TestCombinedSplitsHaveABound combines empty files, whose bytes never fill a split.
func TestCombinedSplitsHaveABound(t *testing.T) {
	w := newWorld()
	for i := range 2*maxParts + 1 {
		w.files = append(w.files, File{w.fs, storage.FileInfo{Path: fmt.Sprintf("/%06d", i), BlockSize: 1000}})
	}
	var next int
	for i, s := range w.cut(t, Options{Combine: true}) {
		if want := min(maxParts, len(w.files)-next); len(s.Parts) != want {
			t.Errorf("split %d has %d files, want %d", i, len(s.Parts), want)
		}
		for _, p := range s.Parts {
			if want := w.files[next].name(); p.Path != want {
				t.Fatalf("%s, want %s", p.Path, want)
			}
			next++
		}
	}
	if next != len(w.files) {
		t.Errorf("%d files, want %d", next, len(w.files))
	}
}
