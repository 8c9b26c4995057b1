package seqfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/writable"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

type record struct{ key, value string }

const defaultCodec = "org.apache.hadoop.io.compress.DefaultCodec"

func textHeader(c Compression) Header {
	h := Header{
		KeyClass:    writable.Text.Class,
		ValueClass:  writable.Text.Class,
		Compression: c,
		Sync:        SyncMark("test"),
	}
	if c != None {
		h.Codec = defaultCodec
	}
	return h
}

func write(t testing.TB, o Options, records []record) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, o)
	must.Do(t, err)
	for _, r := range records {
		must.Do(t, w.Write([]byte(r.key), []byte(r.value)))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// store writes data to a file in memory.
func store(t testing.TB, data []byte) format.Open {
	t.Helper()
	fs := mem.New(mem.Options{})
	storagetest.Write(t, fs, "/in.seq", data)
	return format.Open{FS: fs, Path: "/in.seq", Size: int64(len(data)), ReadAhead: minBuffer}
}

func whole() dag.Range { return dag.Range{End: dag.Position{Offset: math.MaxInt64}} }

// readRange returns the records of a range and their positions.
func readRange(o format.Open, rng dag.Range) (records []record, positions []dag.Position, err error) {
	o.Range = rng
	r, err := Open(context.Background(), o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for r.Next() {
		records = append(records, record{string(r.Key()), string(r.Value())})
		positions = append(positions, r.Position())
	}
	return records, positions, r.Err()
}

func someRecords(n, size int) []record {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	records := make([]record, n)
	for i := range records {
		records[i] = record{fmt.Sprint("key ", i), strings.Repeat("v", rng.IntN(size))}
	}
	return records
}

func everyCompression(t *testing.T, test func(t *testing.T, o Options)) {
	for c := None; c <= Block; c++ {
		t.Run(c.String(), func(t *testing.T) {
			test(t, Options{Header: textHeader(c), SyncInterval: 60, BlockSize: 80})
		})
	}
}

func diff(got, want []record) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Sprintf("record %d is %q, want %q", i, got[i], want[i])
		}
	}
	return ""
}

func TestRoundTrip(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		o.Header.Metadata = map[string]string{"b": "2", "a": "1"}
		rapid.Check(t, func(rt *rapid.T) {
			records := rapid.SliceOf(rapid.Custom(func(t *rapid.T) record {
				return record{string(rapid.SliceOf(rapid.Byte()).Draw(t, "key")), string(rapid.SliceOf(rapid.Byte()).Draw(t, "value"))}
			})).Draw(rt, "records")
			in := store(t, write(t, o, records))
			got, _, err := readRange(in, whole())
			if err != nil || diff(got, records) != "" {
				rt.Fatalf("%v %s", err, diff(got, records))
			}
			r, err := Open(context.Background(), in)
			must.Do(rt, err)
			defer r.Close()
			if h := r.Header(); fmt.Sprint(h) != fmt.Sprint(o.Header) {
				rt.Fatalf("header %v, want %v", h, o.Header)
			}
		})
	})
}

// TestLongRecords reads records that are longer than the reader's buffer, which takeLong
// reads.
func TestLongRecords(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		records := someRecords(20, 5*minBuffer)
		got, _, err := readRange(store(t, write(t, o, records)), whole())
		if err != nil || diff(got, records) != "" {
			t.Fatal(err, diff(got, records))
		}
	})
}

func TestEveryCutGivesEachRecordOnce(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		records := someRecords(40, 20)
		in := store(t, write(t, o, records))
		for cut := range in.Size + 2 {
			checkCut(t, in, dag.Position{Offset: cut}, records)
		}
	})
}

func TestCutsAtPositions(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		records := someRecords(40, 20)
		in := store(t, write(t, o, records))
		_, positions, err := readRange(in, whole())
		must.Do(t, err)
		for i, p := range positions {
			if head := checkCut(t, in, p, records); head != i {
				t.Errorf("%d records before the position %v of record %d", head, p, i)
			}
			p.Skip += 3 // more records than follow the mark
			if head := checkCut(t, in, p, records); head != min(i+3, len(records)) {
				t.Errorf("%d records before %v", head, p)
			}
		}
	})
}

// checkCut reads the records before and after a position and returns the number of records
// before it.
func checkCut(t *testing.T, in format.Open, at dag.Position, want []record) (before int) {
	t.Helper()
	end := whole().End
	head, _, err := readRange(in, dag.Range{End: at})
	if err != nil {
		t.Fatalf("before %v: %v", at, err)
	}
	tail, _, err := readRange(in, dag.Range{Start: at, End: end})
	if err != nil {
		t.Fatalf("from %v: %v", at, err)
	}
	if d := diff(append(head, tail...), want); d != "" {
		t.Fatalf("cut at %v: %s", at, d)
	}
	return len(head)
}

func TestManyCuts(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		records := someRecords(60, 30)
		in := store(t, write(t, o, records))
		for step := int64(1); step < in.Size; step += 1 + step/3 {
			var got []record
			for at := int64(0); at < in.Size; at += step {
				part, _, err := readRange(in, dag.Range{Start: dag.Position{Offset: at}, End: dag.Position{Offset: at + step}})
				must.Do(t, err)
				got = append(got, part...)
			}
			if d := diff(got, records); d != "" {
				t.Fatalf("splits of %d bytes: %s", step, d)
			}
		}
	})
}

func TestPiecesJoinToOneFile(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		records := someRecords(50, 20)
		rapid.Check(t, func(rt *rapid.T) {
			a := rapid.IntRange(0, len(records)).Draw(rt, "first cut")
			b := rapid.IntRange(a, len(records)).Draw(rt, "second cut")
			next := o
			next.Continue = true
			data := write(t, o, records[:a])
			data = append(data, write(t, next, records[a:b])...)
			data = append(data, write(t, next, records[b:])...)
			in := store(t, data)
			got, _, err := readRange(in, whole())
			if err != nil || diff(got, records) != "" {
				rt.Fatalf("%v %s", err, diff(got, records))
			}
			mark := append([]byte{0xFF, 0xFF, 0xFF, 0xFF}, o.Header.Sync[:]...)
			if bytes.Contains(data, append(mark, mark...)) {
				rt.Fatal("two marks side by side")
			}
			cut := rapid.Int64Range(0, in.Size).Draw(rt, "split")
			checkCut(t, in, dag.Position{Offset: cut}, records)
		})
	})
}

func TestSameRecordsMakeTheSameBytes(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		if !bytes.Equal(write(t, o, someRecords(50, 20)), write(t, o, someRecords(50, 20))) {
			t.Error("two runs differ")
		}
	})
}

func TestSyncMarksAreAtTheInterval(t *testing.T) {
	o := Options{Header: textHeader(None)}
	data := write(t, o, someRecords(20_000, 100))
	at := bytes.Count(data, o.Header.Sync[:])
	if want := len(data)/defaultSyncInterval + 1; at != want {
		t.Errorf("%d marks in %d bytes, want %d", at, len(data), want)
	}
}

// TestTruncation checks each truncation. Either it ends between two records, so that the
// rest is a valid file, or the reader reports it.
func TestTruncation(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		records := someRecords(12, 20)
		data := write(t, o, records)
		silent := 0
		for size := range len(data) {
			got, _, err := readRange(store(t, data[:size]), whole())
			if err == nil {
				silent++
				if len(got) >= len(records) {
					t.Fatalf("%d of %d bytes give all records", size, len(data))
				}
				continue
			}
			if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "/in.seq: offset ") {
				t.Fatalf("%d of %d bytes: %v", size, len(data), err)
			}
		}
		if silent > 2*len(records) {
			t.Errorf("%d truncations pass, more than there are borders", silent)
		}
	})
}

func TestDamage(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		data := write(t, o, someRecords(12, 20))
		in := store(t, data)
		_, positions, _ := readRange(in, whole())
		mark := bytes.LastIndex(data, o.Header.Sync[:])
		for _, c := range []struct {
			what string
			at   int
		}{
			{"not a SequenceFile", 0},
			{"sync mark differs", mark},
		} {
			bad := bytes.Clone(data)
			bad[c.at] ^= 0x40
			_, _, err := readRange(store(t, bad), whole())
			if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), c.what) {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		if len(positions) != 12 {
			t.Errorf("%d records", len(positions))
		}
	})
}

func TestRecordLimit(t *testing.T) {
	everyCompression(t, func(t *testing.T, o Options) {
		in := store(t, write(t, o, []record{{"a", "b"}, {"long", strings.Repeat("x", 5000)}}))
		in.MaxRecord = 4000
		got, _, err := readRange(in, whole())
		if len(got) > 1 || err == nil || !strings.Contains(err.Error(), "longer than the limit of 4000") {
			t.Errorf("%d records, %v", len(got), err)
		}
	})
}

func TestRefusals(t *testing.T) {
	if _, err := NewWriter(&bytes.Buffer{}, Options{}); err == nil || !strings.Contains(err.Error(), "sync mark") {
		t.Errorf("writer without a mark: %v", err)
	}
	_, _, err := readRange(store(t, nil), whole())
	if !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("empty file: %v", err)
	}
	_, _, err = readRange(store(t, []byte("SEQ\x05")), whole())
	if err == nil || !strings.Contains(err.Error(), "version 5") {
		t.Errorf("old version: %v", err)
	}
	if _, err := ParseCompression("ZIP"); err == nil {
		t.Error("compression type ZIP taken")
	}
	if c, err := ParseCompression("BLOCK"); c != Block || err != nil {
		t.Errorf("BLOCK: %v, %v", c, err)
	}
}
