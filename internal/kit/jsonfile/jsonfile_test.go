package jsonfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestWriteThenRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	var got map[string]int
	if err := Read(file, &got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
	for _, n := range []int{1, 2} {
		must.Do(t, Write(file, map[string]int{"n": n}, 0o600))
		if err := Read(file, &got); err != nil || got["n"] != n {
			t.Errorf("%v: %v", err, got)
		}
	}
	must.Do(t, os.WriteFile(file, []byte("{"), 0o600))
	if err := Read(file, &got); err == nil || !strings.HasPrefix(err.Error(), file+": ") {
		t.Errorf("an incomplete document: %v", err)
	}
}
