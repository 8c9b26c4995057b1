package testcluster

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestCompare(t *testing.T) {
	want := Output{"part-0": []byte("abc"), "part-1": []byte("de"), "part-2": nil}
	size, wrong := Output{"part-0": []byte("abc"), "part-1": []byte("dx"), "part-3": []byte("f")}.Compare(want)
	if size != 5 || !reflect.DeepEqual(wrong, []string{
		"part-1 has 2 bytes that differ from the 2 of an undisturbed run", "part-2 is missing", "part-3 is not expected",
	}) {
		t.Errorf("%d bytes, %q", size, wrong)
	}
	if size, wrong := want.Compare(want); size != 5 || wrong != nil {
		t.Errorf("the same: %d bytes, %q", size, wrong)
	}
}

func TestOutputWithoutItsMark(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
	}
	write("part-r-00000")
	if _, err := ReadOutput(dir); err == nil || !strings.Contains(err.Error(), "_SUCCESS is missing") {
		t.Errorf("got %v", err)
	}
	write("_SUCCESS")
	if out, err := ReadOutput(dir); err != nil || len(out) != 1 || string(out["part-r-00000"]) != "part-r-00000" {
		t.Errorf("%v: %q", err, out)
	}
}
