package text

import (
	"bytes"
	"errors"
	"path"
	"testing"

	"github.com/hammr/hammr/internal/data/format/compress"
)

// packed returns data in the form in which a file of this name stores it.
func packed(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	if path.Ext(name) == "" {
		return data
	}
	var b bytes.Buffer
	z, err := compress.ByExtension(name).NewWriter(&b, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
