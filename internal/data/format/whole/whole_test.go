package whole

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

func put(t *testing.T, path string, data []byte) format.Open {
	t.Helper()
	fs := mem.New(mem.Options{Name: "test"})
	storagetest.Write(t, fs, path, data)
	size := int64(len(data))
	return format.Open{FS: fs, Path: path, Size: size, Range: dag.Range{End: dag.Position{Offset: size}}}
}

func one(t *testing.T, o format.Open) (key, value string, ok bool) {
	t.Helper()
	r, err := Open(context.Background(), o)
	must.Do(t, err)
	defer r.Close()
	if ok = r.Next(); ok {
		key, value = string(r.Key()), string(r.Value())
		if r.Offset() != 0 || r.Position() != (dag.Position{}) || r.Consumed() != o.Size {
			t.Errorf("offset %d, position %v, consumed %d", r.Offset(), r.Position(), r.Consumed())
		}
		if r.Next() {
			t.Error("a second record")
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return key, value, ok
}

func TestFileIsOneRecord(t *testing.T) {
	content := strings.Repeat("line\n", 100_000)
	var packed bytes.Buffer
	z, err := compress.ByExtension("f.zst").NewWriter(&packed, 0)
	must.Do(t, err)
	_, _ = z.Write([]byte(content))
	must.Do(t, z.Close())
	for path, data := range map[string]string{"/a/f": content, "/a/f.zst": packed.String()} {
		key, value, ok := one(t, put(t, path, []byte(data)))
		if !ok || key != "mem://test"+path || value != content {
			t.Errorf("%s: %v, %q, %d bytes", path, ok, key, len(value))
		}
	}
	if _, value, ok := one(t, put(t, "/empty", nil)); !ok || value != "" {
		t.Errorf("empty file: %v, %q", ok, value)
	}
}

func TestRangesBehindTheStartHaveNone(t *testing.T) {
	o := put(t, "/f", []byte("content"))
	o.Range.Start.Offset = 1
	if _, _, ok := one(t, o); ok {
		t.Error("a record in [1,7)")
	}
	o.Range = dag.Range{Start: dag.Position{Skip: 1}, End: dag.Position{Offset: 7}}
	if _, _, ok := one(t, o); ok {
		t.Error("a record behind the first")
	}
	o.Range = dag.Range{End: dag.Position{Skip: 1}}
	if _, _, ok := one(t, o); !ok {
		t.Error("no record in [0,0+1)")
	}
}

func TestFileLongerThanTheLimit(t *testing.T) {
	o := put(t, "/f", []byte("content"))
	o.MaxRecord = 6
	r, err := Open(context.Background(), o)
	must.Do(t, err)
	defer r.Close()
	if r.Next() || r.Err() == nil || r.Err().Error() != "mem://test/f: longer than the limit of 6 bytes for one record" {
		t.Errorf("error %v", r.Err())
	}
}
