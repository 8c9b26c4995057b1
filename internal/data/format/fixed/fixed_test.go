package fixed

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

func put(t testing.TB, path string, data []byte) format.Open {
	t.Helper()
	if c := compress.ByExtension(path); c != nil {
		var b bytes.Buffer
		z, err := c.NewWriter(&b, 0)
		must.Do(t, err)
		_, _ = z.Write(data)
		must.Do(t, z.Close())
		data = b.Bytes()
	}
	fs := mem.New(mem.Options{Name: "test"})
	storagetest.Write(t, fs, path, data)
	size := int64(len(data))
	return format.Open{FS: fs, Path: path, Size: size, Range: dag.Range{End: dag.Position{Offset: size}}}
}

// numbered returns n records of length bytes that begin with their index.
func numbered(n, length int) []byte {
	var data []byte
	for i := range n {
		record := make([]byte, length)
		binary.BigEndian.PutUint32(record, uint32(i))
		data = append(data, record...)
	}
	return data
}

type seen struct {
	index    int
	offset   int64
	position dag.Position
}

func read(t *testing.T, o format.Open, length int) []seen {
	t.Helper()
	r, err := Records(length)(context.Background(), o)
	must.Do(t, err)
	defer r.Close()
	var all []seen
	for r.Next() {
		if len(r.Value()) != length || r.Key() != nil {
			t.Fatalf("record of %d bytes", len(r.Value()))
		}
		all = append(all, seen{int(binary.BigEndian.Uint32(r.Value())), r.Offset(), r.Position()})
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return all
}

func TestEveryCutGivesEachRecordOnce(t *testing.T) {
	o := put(t, "/f", numbered(9, 7))
	whole := read(t, o, 7)
	if len(whole) != 9 {
		t.Fatalf("%d records", len(whole))
	}
	for cut := int64(0); cut <= o.Size+3; cut++ {
		a, b := o, o
		a.Range.End.Offset, b.Range.Start.Offset = cut, cut
		head := read(t, a, 7)
		if got := append(head, read(t, b, 7)...); !slices.Equal(got, whole) {
			t.Errorf("cut at %d: %v", cut, got)
		}
		if n := len(head); n > 0 && head[n-1].offset >= cut {
			t.Errorf("cut at %d: head has a record at %d", cut, head[n-1].offset)
		}
	}
}

func TestReadingResumesAtAPosition(t *testing.T) {
	const many = 3*bufferSize/100 + 5
	for _, path := range []string{"/f", "/f.gz"} {
		o := put(t, path, numbered(many, 100))
		whole := read(t, o, 100)
		if len(whole) != many || whole[many-1].index != many-1 || whole[many-1].offset != int64(many-1)*100 {
			t.Fatalf("%s: %d records", path, len(whole))
		}
		for _, i := range []int{0, 1, bufferSize / 100, many - 1} {
			a, b := o, o
			a.Range.End, b.Range.Start = whole[i].position, whole[i].position
			if got := append(read(t, a, 100), read(t, b, 100)...); !slices.Equal(got, whole) {
				t.Errorf("%s cut at %v: %d records", path, whole[i].position, len(got))
			}
		}
	}
}

func TestFileLengthMustBeAMultiple(t *testing.T) {
	_, err := Records(100)(context.Background(), put(t, "/rows", make([]byte, 250)))
	if err == nil || !strings.Contains(err.Error(), "mem://test/rows: 250 bytes are not a multiple of the record length 100: 50") {
		t.Errorf("error %v", err)
	}
	r, err := Records(100)(context.Background(), put(t, "/rows.gz", make([]byte, 250)))
	must.Do(t, err)
	defer r.Close()
	for r.Next() {
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "rows.gz: record at byte 200 ends after 50 of 100 bytes") {
		t.Errorf("error %v", err)
	}
	if _, err := Records(0)(context.Background(), put(t, "/f", nil)); err == nil {
		t.Error("record length 0 is accepted")
	}
}

func TestNoAllocationPerRecord(t *testing.T) {
	r, err := Records(100)(context.Background(), put(t, "/f", make([]byte, 100*20_000)))
	must.Do(t, err)
	defer r.Close()
	if n := testing.AllocsPerRun(15_000, func() { r.Next() }); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}
