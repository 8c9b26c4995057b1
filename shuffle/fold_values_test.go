package shuffle

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// labelled is a value whose only references are strings.
type labelled struct {
	Name string
	N    int64
	Note [2]string
}

// labelledFold folds labelled values. The JSON form keeps all fields.
func labelledFold(fold func(acc, v labelled) labelled) Fold[labelled] {
	return Fold[labelled]{
		Fold: Always(fold),
		Append: func(dst []byte, v labelled) []byte {
			b, err := json.Marshal(v)
			if err != nil {
				panic(err)
			}
			return append(dst, b...)
		},
		Decode: func(src []byte) (v labelled, err error) { return v, json.Unmarshal(src, &v) },
	}
}

// stringFolds differ in what becomes of strings: they stay, are replaced, move, grow and
// disappear.
var stringFolds = map[string]func(acc, v labelled) labelled{
	"first": func(acc, v labelled) labelled { acc.N += v.N; return acc },
	"last":  func(acc, v labelled) labelled { v.N += acc.N; return v },
	"swap": func(acc, v labelled) labelled {
		return labelled{Name: acc.Note[1], N: acc.N ^ v.N, Note: [2]string{acc.Name, v.Name}}
	},
	"grow": func(acc, v labelled) labelled {
		acc.Note[0] = (acc.Note[0] + v.Name)[max(0, len(acc.Note[0])-20):]
		return acc
	},
	"empty": func(acc, v labelled) labelled {
		if v.N%3 == 0 {
			acc.Name, acc.Note[1] = "", ""[:0]
		} else {
			acc.Name = v.Name[:v.N%3]
		}
		return acc
	},
}

// TestFoldTableKeepsStrings compares a table in an arena with a map, while the garbage
// collector runs and the strings of the caller disappear.
func TestFoldTableKeepsStrings(t *testing.T) {
	for name, fold := range stringFolds {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t, 3)
			o.Memory = 24 << 20
			f := labelledFold(fold)
			table, err := NewFoldTable(context.Background(), o, f)
			must.Do(t, err)
			want := make(map[string]labelled)
			r := rand.New(rand.NewPCG(5, 6))
			records := testlevel.Choose[int64](50_000, 150_000)
			for i := range records {
				key := fmt.Sprint("key", r.Int64N(records*4/15))
				v := labelled{Name: fmt.Sprint("name ", i), N: i, Note: [2]string{strings.Repeat("n", int(i%40)), "shared"}}
				table.Emit([]byte(key), v)
				if old, ok := want[key]; ok {
					v = fold(old, v)
				}
				want[key] = v
				if i%20_000 == 0 {
					runtime.GC()
				}
			}
			if arenasOutsideHeap && table.arena == nil {
				t.Error("the table is on the heap")
			}
			if table.text.wasteful() && table.text.chunks.size > 3*table.text.live+20*keyChunk {
				t.Errorf("%d bytes of memory for %d bytes of strings", table.text.chunks.size, table.text.live)
			}
			x, err := table.Finish(context.Background())
			must.Do(t, err)
			checkLabelled(t, f, readIndexed(t, o.FS, x), want)
		})
	}
}

func checkLabelled(t *testing.T, f Fold[labelled], parts [][]pair, want map[string]labelled) {
	t.Helper()
	n := 0
	for _, part := range parts {
		n += len(part)
		for _, p := range part {
			if got, err := f.Decode([]byte(p.value)); err != nil || got != want[p.key] {
				t.Fatalf("key %q has %+v instead of %+v (%v)", p.key, got, want[p.key], err)
			}
		}
	}
	if n != len(want) {
		t.Fatalf("%d keys instead of %d", n, len(want))
	}
}

func TestReferences(t *testing.T) {
	type nested struct {
		A int32
		B [2]struct {
			C string
			D []byte
		}
		E any
		F *int
		G map[int]int
		H uintptr
		I struct{}
	}
	check := func(got references, strings, others []uintptr) {
		t.Helper()
		if want := (references{strings, others}); !reflect.DeepEqual(got, want) {
			t.Errorf("references %v instead of %v", got, want)
		}
	}
	check(referencesOf[int64](), nil, nil)
	check(referencesOf[[3]float32](), nil, nil)
	check(referencesOf[string](), []uintptr{0}, nil)
	check(referencesOf[labelled](), []uintptr{0, 24, 40}, nil)
	check(referencesOf[nested](), []uintptr{8, 48}, []uintptr{24, 64, 88, 104, 112, 120})
	check(referencesOf[func()](), nil, []uintptr{0})

	refs := referencesOf[nested]()
	var empty, text, slice, value nested
	text.B[1].C, slice.B[0].D, value.E = "x", []byte{}, 0
	for i, v := range []*nested{&text, &slice, &value, {H: 1}, {G: map[int]int{}}} {
		if !refs.reachable(unsafe.Pointer(v)) {
			t.Errorf("value %d refers to nothing", i)
		}
	}
	if empty.A = 5; refs.reachable(unsafe.Pointer(&empty)) {
		t.Error("a value without references refers to something")
	}
}

// TestFoldTableCountsOnlyKeptStrings checks that replaced strings do not cause spills.
func TestFoldTableCountsOnlyKeptStrings(t *testing.T) {
	o := testOptions(t, 1)
	o.Memory = 4 << 20
	last := joinFold
	last.Fold = Always(func(_, v string) string { return v })
	table, err := NewFoldTable(context.Background(), o, last)
	must.Do(t, err)
	for i := range 200_000 {
		table.Emit([]byte{byte(i % 7)}, fmt.Sprint(strings.Repeat("x", 90), i))
	}
	if s := table.Stats().Spills; s > 0 {
		t.Errorf("%d spills of 7 keys", s)
	}
	must.Do(t, table.Abort())
}
