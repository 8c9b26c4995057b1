package mr

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/splits"
	"github.com/hammr/hammr/internal/data/format/text"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

// everyType is a row with a field of each type, in an order of its own.
type everyType struct {
	S   string `col:"20"`
	B   []byte `col:"1"`
	Yes bool
	I   int
	I8  int8
	I16 int16
	I32 int32
	I64 int64
	U   uint
	U8  uint8
	U16 uint16
	U32 uint32
	U64 uint64
	F32 float32
	F64 float64
	At  time.Time
	M   month
}

type month int16

// anyRow draws a row whose texts have neither separators nor line ends.
func anyRow(t *rapid.T) everyType {
	texts := rapid.StringOf(rapid.SampledFrom([]rune("ab \x00é,;\"\\")))
	return everyType{
		S: texts.Draw(t, "S"), B: []byte(texts.Draw(t, "B")), Yes: rapid.Bool().Draw(t, "Yes"),
		I: rapid.Int().Draw(t, "I"), I8: rapid.Int8().Draw(t, "I8"), I16: rapid.Int16().Draw(t, "I16"),
		I32: rapid.Int32().Draw(t, "I32"), I64: rapid.Int64().Draw(t, "I64"),
		U: rapid.Uint().Draw(t, "U"), U8: rapid.Uint8().Draw(t, "U8"), U16: rapid.Uint16().Draw(t, "U16"),
		U32: rapid.Uint32().Draw(t, "U32"), U64: rapid.Uint64().Draw(t, "U64"),
		F32: rapid.Float32().Draw(t, "F32"), F64: rapid.Float64().Draw(t, "F64"),
		At: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "At"), 7).UTC(), M: month(rapid.Int16().Draw(t, "M")),
	}
}

// TestWrittenRowsAreRead writes rows and reads them again.
func TestWrittenRowsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(anyRow), 1, 5).Draw(t, "rows")
		sep := rapid.SampledFrom([]byte("\t|\x01")).Draw(t, "separator")
		f := DelimitedOutput[struct{}, everyType]().Separator(sep)
		var file bytes.Buffer
		w := &rowWriter[struct{}, everyType]{sink: &sink{w: &file}, rows: f.rows, keys: f.keys}
		for _, row := range want {
			must.Do(t, w.Write(struct{}{}, row))
		}
		must.Do(t, w.Close())
		in := Delimited[everyType]().Separator(sep)
		lines := strings.SplitAfter(file.String(), "\n")
		for i, row := range want {
			var got everyType
			must.Do(t, in.rows.decode(unsafe.Pointer(&got), []byte(strings.TrimSuffix(lines[i], "\n"))))
			if !reflect.DeepEqual(got, row) {
				t.Fatalf("%+v, want %+v", got, row)
			}
		}
	})
}

// FuzzDelimited decodes arbitrary lines. A row that decodes can be written, and the written
// row decodes to the same.
func FuzzDelimited(f *testing.F) {
	f.Add([]byte("b\ttrue\t1"))
	f.Add([]byte("\t0\t-128\tNaN\t1e3\ts\t2"))
	f.Add([]byte("x\tF\t127\t-0\t0x1p-2\t"))
	type row struct {
		B []byte
		Y bool
		I int8
		F float64
		G float32
		S string
	}
	in, out := Delimited[row](), DelimitedOutput[row, struct{}]()
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\r\n") {
			return
		}
		var first, second row
		if err := in.rows.decode(unsafe.Pointer(&first), line); err != nil {
			return
		}
		var file bytes.Buffer
		w := &rowWriter[row, struct{}]{sink: &sink{w: &file}, rows: out.rows, keys: out.keys}
		must.Do(t, w.Write(first, struct{}{}))
		must.Do(t, w.Close())
		if err := in.rows.decode(unsafe.Pointer(&second), bytes.TrimSuffix(file.Bytes(), []byte("\n"))); err != nil {
			t.Fatalf("%q, written as %q: %v", line, file.Bytes(), err)
		}
		if math.IsNaN(first.F) && math.IsNaN(second.F) {
			first.F, second.F = 0, 0
		}
		if first.G != first.G && second.G != second.G {
			first.G, second.G = 0, 0
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("%q: %+v, then %+v", line, first, second)
		}
	})
}

// numbersRow has no field whose decoding needs memory.
type numbersRow struct {
	Key []byte
	A   int64
	B   uint16
	C   float64
	D   bool
}

// openRows reads the rows of a file in memory.
func openRows(t testing.TB, content string) *rowReader[numbersRow] {
	t.Helper()
	ctx := context.Background()
	fsys := mem.New(mem.Options{})
	w, err := fsys.Create(ctx, "/rows", storage.CreateOptions{})
	must.Do(t, err)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
	size := int64(len(content))
	split := &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: "/rows", Length: size, FileSize: size}}}
	parts := splits.OpenParts(ctx, func(name string) (storage.FS, string, error) { return fsys, name, nil },
		text.Lines(text.Options{}), split, splits.Range(split), format.Open{})
	return &rowReader[numbersRow]{fileReader: &fileReader[int64, []byte]{parts, offsetAndValue}, rows: Delimited[numbersRow]().rows}
}

func TestReadingRowsAllocatesNothing(t *testing.T) {
	r := openRows(t, strings.Repeat("key\t-17\t4\t2.5\ttrue\n", 3000))
	defer r.Close()
	var sum int64
	n := testing.AllocsPerRun(2000, func() {
		if !r.Next() {
			t.Fatal(r.Err())
		}
		_, row := r.Record()
		sum += row.A
	})
	if n != 0 || sum != -17*2001 {
		t.Errorf("%v allocations a row, sum %d", n, sum)
	}
}
