package shuffle

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"testing"
)

// stretch is a value whose fold tells in which order values met.
type stretch struct{ first, last, count, disorders int64 }

var stretchFold = Fold[stretch]{
	Fold: func(acc, v stretch) stretch {
		disorders := acc.disorders + v.disorders
		if v.first <= acc.last {
			disorders++
		}
		return stretch{acc.first, v.last, acc.count + v.count, disorders}
	},
	Append: func(dst []byte, v stretch) []byte {
		for _, n := range []int64{v.first, v.last, v.count, v.disorders} {
			dst = binary.BigEndian.AppendUint64(dst, uint64(n))
		}
		return dst
	},
	Decode: func(src []byte) (v stretch, err error) {
		for _, n := range []*int64{&v.first, &v.last, &v.count, &v.disorders} {
			*n, src = int64(binary.BigEndian.Uint64(src)), src[8:]
		}
		return v, nil
	},
}

// TestFoldTableWithAFront folds so many keys that the table has a front, some
// of them longer than an entry holds; with memory for all, and with spills.
func TestFoldTableWithAFront(t *testing.T) {
	const keys, records = 150_000, 1_400_000
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, keys-1)
	uniform := rand.New(rand.NewPCG(3, 4))
	for name, c := range map[string]struct {
		next   func() uint64
		memory int64
		keeps  bool // the front
	}{
		"keys that come again":   {zipf.Uint64, 64 << 20, true},
		"spills":                 {zipf.Uint64, frontMemory, true},
		"keys that hardly do so": {func() uint64 { return uniform.Uint64N(keys) }, 64 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t, 1)
			o.Memory = c.memory
			table, err := NewFoldTable(context.Background(), o, stretchFold)
			if err != nil {
				t.Fatal(err)
			}
			want := make(map[string]stretch)
			hadFront := false
			for i := range int64(records) {
				n := c.next()
				key := strconv.FormatUint(n, 10)
				if n%10 == 0 {
					key = "a key of more than sixteen bytes " + key
				}
				table.Emit([]byte(key), stretch{i, i, 1, 0})
				if old, known := want[key]; known {
					want[key] = stretch{old.first, i, old.count + 1, 0}
				} else {
					want[key] = stretch{i, i, 1, 0}
				}
				hadFront = hadFront || table.front != nil
			}
			if !hadFront || table.frontAllowed != c.keeps {
				t.Errorf("the table had a front: %v; it keeps it: %v", hadFront, table.frontAllowed)
			}
			x, err := table.Finish(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if got := table.Stats().Records; got != records {
				t.Errorf("%d records counted instead of %d", got, records)
			}
			checkStretches(t, o, x, want)
		})
	}
}

// checkStretches compares the folded values of an index of one partition.
func checkStretches(t *testing.T, o Options, x *Index, want map[string]stretch) {
	t.Helper()
	got := make(map[string]stretch)
	for _, r := range readIndexed(t, o.FS, x)[0] {
		v, err := stretchFold.Decode([]byte(r.value))
		if err != nil {
			t.Fatal(err)
		}
		if old, known := got[r.key]; known {
			v = stretchFold.Fold(old, v)
		}
		got[r.key] = v
	}
	if len(got) != len(want) {
		t.Fatalf("%d keys instead of %d", len(got), len(want))
	}
	for key, v := range want {
		if got[key] != v {
			t.Fatalf("key %q has %v instead of %v", key, got[key], v)
		}
	}
}

// TestPanicInTheFrontIsAnErrorOfTheTable has a fold that panics within Emit.
func TestPanicInTheFrontIsAnErrorOfTheTable(t *testing.T) {
	o := testOptions(t, 1)
	o.Memory = frontMemory
	f := sumFold
	f.Fold = func(acc, v int64) int64 { panic("no sums today") }
	table, err := NewFoldTable(context.Background(), o, f)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Abort()
	for i := range 100_000 {
		table.Emit(strconv.AppendInt(nil, int64(i), 10), 1)
	}
	if table.front == nil || table.Err() != nil {
		t.Fatalf("front %v, error %v", table.front != nil, table.Err())
	}
	func() {
		defer func() {
			if recover() != "no sums today" {
				t.Error("the panic does not come out")
			}
		}()
		table.Emit([]byte("99999"), 1)
	}()
	if table.Err() == nil {
		t.Error("no error after the panic")
	}
	if _, err := table.Finish(context.Background()); err == nil {
		t.Error("finished all the same")
	}
}
