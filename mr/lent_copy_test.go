package mr_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// piped sends five records through a pipe and returns their text. The memory of a record is
// overwritten as soon as it has been emitted.
func piped[V any](t *testing.T, codec mr.Codec[V], make func(b []byte) V, text func(V) string) string {
	t.Helper()
	var got strings.Builder
	write := mr.FuncOutput(func(_ *mr.Task, key []byte, v V) error {
		fmt.Fprintf(&got, "%s %s\n", key, text(v))
		return nil
	})
	emit := mr.MapFunc(func(_ *mr.Task, _ int64, _ []byte, out mr.Emitter[[]byte, V]) error {
		for i := range 5 {
			key, value := fmt.Appendf(nil, "key%d", i), fmt.Appendf(nil, "value%d", i)
			out.Emit(key, make(value))
			poison.Fill(key)
			poison.Fill(value)
		}
		return nil
	})
	job := mr.Define("piped", struct{}{}, func(g *mr.Graph, _ struct{}) {
		c := mr.Read(g, "read", mr.TextLines(), emit).Pipe()
		if codec != nil {
			c = c.ValueCodec(codec)
		}
		mr.Write(mr.Each(g, "each", mr.IdentityMapper[[]byte, V](), c), write)
	})
	mrtest.Command(t, job, inputDir(t, "a\n"), outputDir(t))
	return got.String()
}

// TestPipesCopyWhatIsEmitted checks that the records of a batch have memory of their own.
func TestPipesCopyWhatIsEmitted(t *testing.T) {
	type pair = mr.Pair[[]byte, []byte]
	want := ""
	for i := range 5 {
		want += fmt.Sprintf("key%d value%d\n", i, i)
	}
	for name, got := range map[string]string{
		"bytes": piped(t, nil, slices.Clip[[]byte], func(v []byte) string { return string(v) }),
		"pairs": piped(t, nil, func(b []byte) pair { return pair{First: b[:3], Second: b[3:]} }, func(p pair) string { return string(p.First) + string(p.Second) }),
		"a codec that returns views": piped(t, mr.Codec[fields](fieldsCodec{}), func(b []byte) fields { return fields{[][]byte{b}} }, func(f fields) string {
			return string(f.parts[0])
		}),
	} {
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// keepText returns a mapper that keeps the text of each record, and emits all that it has kept.
func keepText[K, V any](text func(K, V) string) mr.Mapper[K, V, string, string] {
	var kept []string
	return mr.MapFunc(func(_ *mr.Task, key K, value V, out mr.Emitter[string, string]) error {
		kept = append(kept, text(key, value))
		for _, s := range kept {
			out.Emit(s, "")
		}
		return nil
	})
}

// keepKeys returns a reducer that keeps the text of each key, and emits all that it has kept.
func keepKeys[K any](text func(K) string) mr.Reducer[K, string, string, string] {
	var kept []string
	return mr.ReduceFunc(func(_ *mr.Task, key K, values iter.Seq[string], out mr.Emitter[string, string]) error {
		kept = append(kept, text(key))
		for v := range values {
			kept = append(kept, v)
		}
		for _, s := range kept {
			out.Emit(s, "")
		}
		return nil
	})
}

// TestStringsMayBeKept runs programs that keep strings, which are copies whatever they come from.
func TestStringsMayBeKept(t *testing.T) {
	type row struct{ Name, Rest string }
	type pair = mr.Pair[string, string]
	type descending = mr.Desc[string]
	out := mr.TextOutput[string, string]()
	line := func(_ int64, line string) string { return line }
	name := func(name string, _ []byte) string { return name[strings.LastIndex(name, "/")+1:] }
	same := func(s string) string { return s }
	lines := mr.TextStrings()
	in := inputDir(t, "aaaa\tone\nbbbb\ttwo\ncccc\tthree\n", "dddd\tfour\n")
	text := outputDir(t)
	mrtest.Command(t, mr.MapOnly("write", lines, mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[string, string]) error {
		out.Emit(line, line)
		return nil
	}), mr.SequenceOutput(mr.TextString, mr.TextString)), in, text)
	for kind, tt := range map[string]struct {
		job mr.Runnable
		in  string
	}{
		"line":   {mr.MapOnly("line", lines, keepText(line), out), in},
		"file":   {mr.MapOnly("file", mr.WholeFiles(), keepText(name), out), in},
		"column": {mr.MapOnly("column", mr.Delimited[row](), keepText(func(_ int64, r row) string { return r.Name }), out), in},
		"text":   {mr.MapOnly("text", mr.SequenceFile(mr.TextString, mr.TextString), keepText(func(_, v string) string { return v }), out), text},
		"key": {mr.New("key", lines, mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[string, string]) error {
			out.Emit(line, line)
			return nil
		}), keepKeys(same), out), in},
		"part": {mr.New("part", lines, mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[pair, string]) error {
			out.Emit(pair{First: line, Second: line}, line)
			return nil
		}), keepKeys(func(p pair) string { return p.First }), out), in},
		"descending": {mr.New("descending", lines, mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[descending, string]) error {
			out.Emit(descending{Value: line}, line)
			return nil
		}), keepKeys(func(d descending) string { return d.Value }), out), in},
	} {
		t.Run(kind, func(t *testing.T) {
			got := mrtest.Command(t, tt.job, "--workers=1", "-Dhammr.debug.poison=true", tt.in, outputDir(t))
			if got == "" || strings.Contains(got, "\xDB") {
				t.Errorf("output %q", got)
			}
		})
	}
}
