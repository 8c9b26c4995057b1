package mr_test

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// fieldsAs emits the first word of a line as a key of any type, and the second as value.
func fieldsAs[K any](key func(string) K) mr.Mapper[int64, string, K, string] {
	return mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[K, string]) error {
		f := strings.Fields(line)
		out.Emit(key(f[0]), f[1])
		return nil
	})
}

// lengths emits the length of each value, which is another type than that of the left.
func lengths[K any]() mr.Mapper[K, string, K, int64] {
	return mr.MapFunc(func(_ *mr.Task, key K, v string, out mr.Emitter[K, int64]) error {
		out.Emit(key, int64(len(v)))
		return nil
	})
}

// both lists the values of a key, those of the left first.
func both[K any](_ *mr.Task, key K, left iter.Seq[string], right iter.Seq[int64], out mr.Emitter[K, string]) error {
	out.Emit(key, joined(left)+" | "+joined(right))
	return nil
}

// coGroupOf defines a CoGroup whose left is declared after its right, and is made by a Group
// where the right comes from the input: the order of values must not depend on that.
func coGroupOf[K any](key func(string) K, f func(t *mr.Task, key K, left iter.Seq[string], right iter.Seq[int64], out mr.Emitter[K, string]) error) *mr.Definition {
	return mr.Define("cogroup", none{}, func(g *mr.Graph, _ none) {
		right := mr.Read(g, "right", mr.TextStrings(), fieldsAs(key))
		raw := mr.Read(g, "raw", mr.TextStrings(), fieldsAs(key))
		left := mr.Group(g, "left", mr.IdentityReducer[K, string](), raw.Shuffle())
		short := mr.Each(g, "short", lengths[K](), right.Pipe())
		mr.Write(mr.CoGroup(g, "both", mr.CoReduceFunc(f), left.Shuffle(), short.Shuffle()), mr.TextOutput[K, string]())
	})
}

// coLines returns n lines of a key of few and a value.
func coLines(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %s\n", (i*i+seed)%97-20, strings.Repeat("v", (i+seed)%7+1))
	}
	return b.String()
}

// checkCoGroup compares the output with that of a Group over a union of both sides, file by
// file, for keys of one type.
func checkCoGroup[K any](t *testing.T, key func(string) K) {
	t.Helper()
	rightText, leftText := coLines(3, 800), coLines(11, 500)
	in := []string{mrtest.File(t, "right", rightText), mrtest.File(t, "left", leftText)}
	options := []string{"-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=999", "--quiet"}
	twin := mr.New("twin", mr.TextStrings(), fieldsAs(key), mr.ReduceFunc(func(_ *mr.Task, key K, values iter.Seq[string], out mr.Emitter[K, string]) error {
		var left, right []string
		for v := range values {
			if strings.HasPrefix(v, "right:") {
				right = append(right, v[6:])
			} else {
				left = append(left, v)
			}
		}
		out.Emit(key, strings.Join(left, ",")+" | "+strings.Join(right, ","))
		return nil
	}), mr.TextOutput[K, string]())
	marked := mr.AddInput(twin, mr.TextStrings(), mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[K, string]) error {
		f := strings.Fields(line)
		out.Emit(key(f[0]), "right:"+strconv.Itoa(len(f[1])))
		return nil
	}))
	want := outputDir(t)
	mrtest.Command(t, marked, append(slices.Clone(options), in[1], in[0], want)...)
	got := outputDir(t)
	mrtest.Command(t, coGroupOf(key, both[K]), append(slices.Clone(options), in[0], in[1], got)...)
	files := filesIn(t, want)
	delete(files, "_SUCCESS")
	wantFiles(t, got, files)
}

func TestCoGroupOrdersItsSides(t *testing.T) {
	checkCoGroup(t, func(s string) string { return s })
	checkCoGroup(t, func(s string) []byte { return []byte("k\x00" + s + "\x00\x01") })
	checkCoGroup(t, func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n })
	checkCoGroup(t, func(s string) mr.Pair[mr.Desc[string], int8] {
		return mr.Pair[mr.Desc[string], int8]{First: mr.Desc[string]{Value: s}, Second: int8(len(s))}
	})
	type name string
	checkCoGroup(t, func(s string) name { return name(s) })
}

// TestCoGroupMayLeaveValues checks functions that read only a part of each side.
func TestCoGroupMayLeaveValues(t *testing.T) {
	first := func(key string, left iter.Seq[string], right iter.Seq[int64], n int) string {
		var b strings.Builder
		take := func(v any) bool { fmt.Fprint(&b, v, " "); n--; return n >= 0 }
		for v := range left {
			if !take(v) {
				break
			}
		}
		b.WriteString("| ")
		for v := range right {
			if !take(v) {
				break
			}
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		f    func(key string, left iter.Seq[string], right iter.Seq[int64]) string
		want string
	}{
		"nothing":   {func(string, iter.Seq[string], iter.Seq[int64]) string { return "" }, "a\t\nb\t\nc\t\n"},
		"the left":  {func(_ string, l iter.Seq[string], _ iter.Seq[int64]) string { return joined(l) }, "a\tx,yy\nb\t\nc\tz\n"},
		"the right": {func(_ string, _ iter.Seq[string], r iter.Seq[int64]) string { return joined(r) }, "a\t1,3\nb\t2\nc\t\n"},
		"the first of each": {func(k string, l iter.Seq[string], r iter.Seq[int64]) string {
			return first(k, l, r, 0)
		}, "a\tx | 1 \nb\t| 2 \nc\tz | \n"},
	} {
		d := coGroupOf(strings.Clone, func(_ *mr.Task, key string, l iter.Seq[string], r iter.Seq[int64], out textEmitter) error {
			out.Emit(key, c.f(key, l, r))
			return nil
		})
		got := mrtest.RunGraph(t, d, mrtest.Case{Inputs: []string{"a 1\na 333\nb 22\n", "a x\nc z\na yy\n"}})
		if got.Text() != c.want {
			t.Errorf("%s: %q, want %q", name, got.Text(), c.want)
		}
	}
}

func TestCoGroupRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		build func(g *mr.Graph, left, right *mr.Stage[string, string])
		want  string
	}{
		"no function": {func(g *mr.Graph, left, right *mr.Stage[string, string]) {
			mr.Write(mr.CoGroup[string, string, string, string, string](g, "both", nil, left.Shuffle(), right.Shuffle()), mr.NullOutput[string, string]())
		}, "a reducer that is nil"},
		"a stream": {func(g *mr.Graph, left, right *mr.Stage[string, string]) {
			mr.Write(mr.CoGroup(g, "both", mr.CoReduceFunc(ignoreBoth), left.Shuffle(), right.Stream(mr.AllToAll)), mr.NullOutput[string, string]())
		}, "a tcp channel into a CoGroup; it reads files"},
		"no stage": {func(g *mr.Graph, left, _ *mr.Stage[string, string]) {
			mr.Write(mr.CoGroup(g, "both", mr.CoReduceFunc(ignoreBoth), left.Shuffle(), mr.Channel[string, string]{}), mr.NullOutput[string, string]())
		}, "a channel that no stage has made"},
		"different codecs": {func(g *mr.Graph, left, right *mr.Stage[string, string]) {
			mr.Write(mr.CoGroup(g, "both", mr.CoReduceFunc(ignoreBoth), left.Shuffle().KeyCodec(mr.JSON[string]()), right.Shuffle()), mr.NullOutput[string, string]())
		}, "channels with different codecs of keys"},
	} {
		d := mr.Define("cogroup", none{}, func(g *mr.Graph, _ none) {
			c.build(g, mr.Read(g, "left", mr.TextStrings(), pairs), mr.Read(g, "right", mr.TextStrings(), pairs))
		})
		t.Run(name, func(t *testing.T) {
			fails(t, d, mr.ExitFailed, []string{inputDir(t, "a b\n"), outputDir(t)}, c.want, "graph_cogroup_sides_test.go:")
		})
	}
}

func ignoreBoth(*mr.Task, string, iter.Seq[string], iter.Seq[string], textEmitter) error { return nil }
