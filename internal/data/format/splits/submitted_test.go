package splits

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/text"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
	"github.com/hammr/hammr/storage/mem"
)

// readSplit returns the values of all records of a split.
func readSplit(t *testing.T, fsys storage.FS, split *taskproc.Split) (string, error) {
	resolve := func(name string) (storage.FS, string, error) { return fsys, strings.TrimPrefix(name, fsys.URI()), nil }
	p := OpenParts(t.Context(), resolve, text.Lines(text.Options{}), split, Range(split), format.Open{})
	defer p.Close()
	var values []string
	for p.Next() {
		values = append(values, string(p.Value()))
	}
	return strings.Join(values, " "), p.Err()
}

// TestFileThatChangesAfterTheSubmission cuts a local file, changes it, and reads its split.
func TestFileThatChangesAfterTheSubmission(t *testing.T) {
	then := time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.UTC)
	write := func(name, content string, at time.Time) error {
		return errors.Join(os.WriteFile(name, []byte(content), 0o644), os.Chtimes(name, at, at))
	}
	replace := func(name, content string, at time.Time) error {
		return errors.Join(write(name+".new", content, at), os.Rename(name+".new", name))
	}
	for what, c := range map[string]struct {
		change func(name string, part *taskproc.Split_Part) error
		want   string // the error, "" for none
	}{
		"nothing": {func(string, *taskproc.Split_Part) error { return nil }, ""},
		"it has grown": {func(name string, _ *taskproc.Split_Part) error {
			return write(name, "one\ntwo\nthree\n", then.Add(time.Hour))
		}, ""},
		"it was truncated":         {func(name string, _ *taskproc.Split_Part) error { return write(name, "one\n", then.Add(time.Hour)) }, "it had 8 bytes and has 4"},
		"it was truncated at once": {func(name string, _ *taskproc.Split_Part) error { return write(name, "one\n", then) }, "it had 8 bytes and has 4"},
		"it was written again": {func(name string, _ *taskproc.Split_Part) error {
			return write(name, "six\nten\n", then.Add(time.Microsecond))
		}, "it was modified at 2026-05-01T12:00:00.123456789Z and now at 2026-05-01T12:00:00.123457789Z"},
		"it was replaced":             {func(name string, _ *taskproc.Split_Part) error { return replace(name, "six\nten\n", then) }, "another file has its name"},
		"it was replaced by a longer": {func(name string, _ *taskproc.Split_Part) error { return replace(name, "six\nten\nelf\n", then) }, "another file has its name"},
		"a copy on another machine":   {func(name string, p *taskproc.Split_Part) error { p.Machine++; return replace(name, "one\ntwo\n", then) }, ""},
		"a longer one on another": {func(name string, p *taskproc.Split_Part) error {
			p.Machine++
			return replace(name, "one\ntwo\nthree\n", then)
		}, ""},
		"another one there": {func(name string, p *taskproc.Split_Part) error {
			p.Machine++
			return replace(name, "six\nten\n", then.Add(1))
		}, "it was modified at"},
		"an older client submitted it": {func(name string, p *taskproc.Split_Part) error {
			p.Modified = 0
			return replace(name, "one\ntwo\n", then)
		}, ""},
		"it was removed": {func(name string, _ *taskproc.Split_Part) error { return os.Remove(name) }, "no such file"},
	} {
		t.Run(what, func(t *testing.T) {
			fsys, name := local.New(local.Options{}), filepath.Join(t.TempDir(), "in")
			must.Do(t, write(name, "one\ntwo\n", then))
			split := cutOne(t, fsys, name)
			must.Do(t, c.change(name, split.Parts[0]))
			checkRead(t, fsys, split, c.want)
		})
	}
}

// TestFileThatIsReplacedInMemory does the same where no file can be written twice.
func TestFileThatIsReplacedInMemory(t *testing.T) {
	for content, want := range map[string]string{"one\ntwo\nthree\n": "another file has its name", "one\ntwo\n": "another file has its name", "one\n": "it had 8 bytes and has 4"} {
		fsys := mem.New(mem.Options{Now: func() time.Time { return time.Unix(1, 0) }})
		put := func(content string) {
			w, err := fsys.Create(t.Context(), "/in", storage.CreateOptions{})
			if err == nil {
				_, err = w.Write([]byte(content))
				err = storage.Finish(w, err)
			}
			must.Do(t, err)
		}
		put("one\ntwo\n")
		split := cutOne(t, fsys, "/in")
		checkRead(t, fsys, split, "")
		must.Do(t, fsys.Remove(t.Context(), "/in", false))
		put(content)
		checkRead(t, fsys, split, want)
	}
}

// cutOne returns the only split of a file.
func cutOne(t *testing.T, fsys storage.FS, name string) *taskproc.Split {
	t.Helper()
	info, err := fsys.Stat(t.Context(), name)
	must.Do(t, err)
	splits, err := Cut(t.Context(), Options{}, []File{{fsys, info}})
	if err != nil || len(splits) != 1 {
		t.Fatalf("%d splits, %v", len(splits), err)
	}
	return splits[0]
}

// checkRead reads a split of two lines, or gets an error that names the file.
func checkRead(t *testing.T, fsys storage.FS, split *taskproc.Split, want string) {
	t.Helper()
	switch values, err := readSplit(t, fsys, split); {
	case want == "":
		if values != "one two" || err != nil {
			t.Errorf("read %q, %v", values, err)
		}
	case err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), split.Parts[0].Path):
		t.Errorf("read %q, %v; want an error with %q", values, err, want)
	}
}
