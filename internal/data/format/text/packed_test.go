package text

import (
	"bytes"
	"errors"
	"path"
	"testing"

	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/testing/must"
)

// packed returns data in the form in which a file of this name stores it.
func packed(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	if path.Ext(name) == "" {
		return data
	}
	var b bytes.Buffer
	z, err := compress.ByExtension(name).NewWriter(&b, 0)
	must.Do(t, err)
	_, err = z.Write(data)
	must.Do(t, errors.Join(err, z.Close()))
	return b.Bytes()
}
