package flame

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

// build returns a profile of stacks: functions from the outermost, joined by ;, with a value.
func build(t testing.TB, stacks map[string]int64) *Profile {
	t.Helper()
	p, err := Decode(encode(t, stacks))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t testing.TB, stacks map[string]int64) []byte {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}
	places := make(map[string]*profile.Location)
	for stack, value := range stacks {
		s := &profile.Sample{Value: []int64{1, value}}
		for _, name := range slices.Backward(strings.Split(stack, ";")) {
			if places[name] == nil {
				f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
				p.Function = append(p.Function, f)
				places[name] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				p.Location = append(p.Location, places[name])
			}
			s.Location = append(s.Location, places[name])
		}
		p.Sample = append(p.Sample, s)
	}
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// show describes a picture: name, place and row of each frame.
func show(t *Tree, rects []Rect) (lines []string) {
	for _, r := range rects {
		lines = append(lines, fmt.Sprintf("%s %.0f+%.0f row %d", t.Frames[r.Frame].Name, r.X, r.Width, r.Row))
	}
	return lines
}

// frame returns the number of the frame of a stack.
func (t *Tree) frame(stack string) int {
	at := 0
	for name := range strings.SplitSeq(stack, ";") {
		at = slices.IndexFunc(t.Frames, func(f Frame) bool { return f.Caller == at && f.Name == name })
	}
	return at
}

func TestLayout(t *testing.T) {
	stacks := map[string]int64{"main;read": 60, "main;sort;less": 25, "main;sort": 5, "gc": 10, "main;sort;sort;less": 0, "idle": -7}
	for _, c := range []struct {
		zoom    string
		want    []string
		leftOut int
	}{
		{"", []string{"whole profile 0+100 row 0", "main 0+90 row 1", "gc 90+10 row 1", "read 0+60 row 2", "sort 60+30 row 2", "less 60+25 row 3"}, 0},
		{"main", []string{"whole profile 0+100 row 0", "main 0+100 row 1", "read 0+67 row 2", "sort 67+33 row 2", "less 67+28 row 3"}, 0},
		{"main;sort;less", []string{"whole profile 0+100 row 0", "main 0+100 row 1", "sort 0+100 row 2", "less 0+100 row 3"}, 0},
	} {
		tree, err := build(t, stacks).Tree("cpu")
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		if c.zoom != "" {
			at = tree.frame(c.zoom)
		}
		rects, leftOut := tree.Layout(at, 100)
		if got := show(tree, rects); !slices.Equal(got, c.want) || leftOut != c.leftOut {
			t.Errorf("zoomed to %q: %q, %d left out", c.zoom, got, leftOut)
		}
	}
}

// TestTop has recursive calls, which count once, and two ways to a function.
func TestTop(t *testing.T) {
	tree, err := build(t, map[string]int64{"main;walk;walk;walk": 30, "main;walk;read": 50, "main;read": 20}).Tree("cpu")
	if err != nil {
		t.Fatal(err)
	}
	want := []Function{{"read", 70, 70}, {"walk", 30, 80}, {"main", 0, 100}}
	if got := tree.Top(0, 10); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := tree.Top(tree.frame("main;walk"), 1); !slices.Equal(got, []Function{{"read", 50, 50}}) {
		t.Errorf("of a part: %v", got)
	}
	if got := tree.Matching(0, func(name string) bool { return name != "main" }); got != 100 {
		t.Errorf("all but main match %d", got)
	}
	if got := tree.Matching(0, func(name string) bool { return name == rootName || name == "walk" }); got != 80 {
		t.Errorf("walk matches %d", got)
	}
}

// TestTreeIsBounded has a stack that is too deep, and so many functions that not all have a place in
// the picture.
func TestTreeIsBounded(t *testing.T) {
	stacks := map[string]int64{strings.TrimSuffix(strings.Repeat("f;", MaxDepth+50), ";"): 3000}
	for i := range 3 * maxRects {
		stacks[fmt.Sprintf("g;%d", i)] = 1
	}
	tree, err := build(t, stacks).Tree("cpu")
	if err != nil {
		t.Fatal(err)
	}
	checkTree(t, tree)
	if last := tree.Frames[tree.frame(strings.TrimSuffix(strings.Repeat("f;", MaxDepth), ";"))]; last.Depth != MaxDepth || last.Self != 3000 || tree.Cut != 3000 {
		t.Errorf("the deepest frame is %+v; %d cut", last, tree.Cut)
	}
	rects, leftOut := tree.Layout(0, 1e6)
	if len(rects) != maxRects || leftOut < 3*maxRects-maxRects {
		t.Errorf("%d frames are drawn and %d are not, of %d", len(rects), leftOut, len(tree.Frames))
	}
	if rects, leftOut = tree.Layout(0, 1200); len(rects) != MaxDepth+2 || leftOut != 3*maxRects {
		t.Errorf("%d frames are wide enough and %d are not", len(rects), leftOut)
	}
}

// checkTree checks the invariant of a tree, and that each picture is within its bounds.
func checkTree(t testing.TB, tree *Tree) {
	t.Helper()
	for i, f := range tree.Frames {
		sum := f.Self
		for _, called := range f.calls {
			sum += tree.Frames[called].Value
			if called <= i || tree.Frames[called].Caller != i || tree.Frames[called].Depth != f.Depth+1 {
				t.Fatalf("frame %d, called by %d: %+v", called, i, tree.Frames[called])
			}
		}
		if sum != f.Value || f.Self < 0 || f.Depth > MaxDepth {
			t.Fatalf("frame %d: %+v, with a sum of %d", i, f, sum)
		}
	}
	for _, at := range []int{0, len(tree.Frames) / 2, len(tree.Frames) - 1} {
		rects, _ := tree.Layout(at, 1200)
		if len(rects) > maxRects {
			t.Fatalf("%d frames are drawn", len(rects))
		}
		for _, r := range rects {
			if r.X < 0 || r.X+r.Width > 1200.001 || math.IsNaN(r.Width) {
				t.Fatalf("%+v is outside of the picture", r)
			}
		}
		if n := len(tree.Top(at, 50)); n > 50 {
			t.Fatalf("%d functions", n)
		}
	}
}

func TestMalformedProfiles(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range maxBytes>>20 + 1 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	labels := bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), nil), maxMessages)
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"a bomb":           {bomb.Bytes(), "more than 16777216 bytes"},
		"many messages":    {protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), labels), "more than 1000000 messages"},
		"a cut file":       {encode(t, map[string]int64{"a;b": 1})[:60], "malformed profile"},
		"text":             {[]byte("goroutine 1 [running]:"), "malformed profile"},
		"nothing":          {nil, "malformed profile"},
		"half a header":    {[]byte{0x1f, 0x8b}, "malformed profile"},
		"many value types": {bytes.Repeat([]byte{0x0a, 0}, maxTypes+1), "malformed profile"},
	} {
		if _, err := Decode(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := build(t, map[string]int64{"a": math.MaxInt64, "b": 1}).Tree("cpu"); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a sum that is too large: %v", err)
	}
	p := build(t, map[string]int64{"a": 1})
	if _, err := p.Tree("space"); !errors.Is(err, ErrNoType) || p.Default() != "cpu" {
		t.Errorf("%v, default %s", err, p.Default())
	}
}

func TestGroupStacks(t *testing.T) {
	const text = `goroutine 1 [running]:
main.main()
	/src/main.go:12 +0x1d

goroutine 7 [chan receive, 5 minutes]:
main.(*pool).wait(0xc000010000, {0x1, 0x2}, ...)
	/src/pool.go:30 +0x1d
created by main.(*pool).start in goroutine 1
	/src/pool.go:10 +0x99

goroutine 8 gp=0xc0001 m=nil [chan receive, 17 minutes, locked to thread]:
main.(*pool).wait(...)
	/src/pool.go:30
created by main.(*pool).start in goroutine 6
	/src/pool.go:10 +0x99

goroutine 9 [chan receive]:
main.(*pool).wait(0x7?, {0x1, 0x2}, ...)
	/src/pool.go:30 +0x22
created by main.(*pool).start in goroutine 2
	/src/pool.go:10 +0x98

not a stack
`
	groups, goroutines, leftOut := GroupStacks([]byte(text))
	const wait = "main.(*pool).wait\n\t/src/pool.go:30\ncreated by main.(*pool).start\n\t/src/pool.go:10"
	want := []Group{{1, "chan receive, locked to thread", 17, wait, 2}, {2, "chan receive", 5, wait, 1}, {1, "running", 0, "main.main\n\t/src/main.go:12", 0}}
	if !slices.Equal(groups, want) || goroutines != 4 || leftOut != 0 {
		t.Errorf("%d goroutines, %d left out, %+v", goroutines, leftOut, groups)
	}
	var many strings.Builder
	for i := range maxGroups + 20 {
		fmt.Fprintf(&many, "goroutine %d [select]:\nmain.f%d()\n\t/src/main.go:1 +0x1\n\n", i, i)
	}
	if groups, goroutines, leftOut := GroupStacks([]byte(many.String())); len(groups) != maxGroups || leftOut != 20 || goroutines != maxGroups+20 {
		t.Errorf("%d groups, %d left out of %d", len(groups), leftOut, goroutines)
	}
}

// FuzzDecode decodes and draws profiles that a program may send.
func FuzzDecode(f *testing.F) {
	f.Add(encode(f, map[string]int64{"main;read": 60, "main;sort;less": 25, "gc": 10}))
	f.Add(encode(f, map[string]int64{"a;a;a;a": math.MaxInt64}))
	f.Add([]byte("goroutine 1 [running]:\nmain.main()\n"))
	f.Add([]byte{0x0a, 0, 0x12, 2, 0x12, 0, 0x32, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		GroupStacks(data)
		p, err := Decode(data)
		if err != nil {
			return
		}
		for _, kind := range p.Types() {
			tree, err := p.Tree(kind.Name)
			if err == nil {
				checkTree(t, tree)
			}
		}
	})
}
