package fsshell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// onDisk returns a shell over local files in a new working directory.
func onDisk(t *testing.T) (w *world, dir string) {
	t.Helper()
	w, dir = &world{}, t.TempDir()
	w.connect(t, storage.Config{WorkDir: dir, Open: map[string]storage.Opener{
		"file": func(context.Context, string) (storage.FS, error) { return local.New(local.Options{}), nil },
	}})
	return w, dir
}

func put1(t *testing.T, name, content string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(content), 0o644))
}

// ok runs a command that must succeed and print want.
func (w *world) ok(t *testing.T, want string, args ...string) {
	t.Helper()
	if out, code := w.run(args...); out != want || code != 0 {
		t.Errorf("%q printed %q, code %d; want %q", args, out, code, want)
	}
}

// TestForcedRemoveReportsOtherErrors removes files of a file system that cannot be reached.
// -f hides only that a file does not exist.
func TestForcedRemoveReportsOtherErrors(t *testing.T) {
	w, dir := onDisk(t)
	w.ok(t, "", "-rm", "-f", dir+"/none", dir+"/none*")
	w.connect(t, storage.Config{Open: map[string]storage.Opener{
		"file": func(context.Context, string) (storage.FS, error) { return nil, errors.New("no answer") },
	}})
	if out, code := w.run("-rm", "-f", "/none"); code == 0 || !strings.Contains(out, "no answer") {
		t.Errorf("printed %q, code %d", out, code)
	}
}

func TestPutAndGet(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	put1(t, dir+"/tree/a", "alpha")
	put1(t, dir+"/tree/deep/b", "beta")
	w.env.CreateOptions = storage.CreateOptions{Replication: 3, BlockSize: 4}

	w.ok(t, "", "-put", dir+"/tree", "/in")
	w.ok(t, "alphabeta", "-cat", "/in/a", "/in/deep/b")
	w.ok(t, "3 4\n", "-stat", "%r %o", "/in/a")
	w.ok(t, "", "-put", "-f", dir+"/tree/deep/b", "/in/a")
	w.ok(t, "beta", "-cat", "/in/a")
	w.ok(t, "/in/a\n/in/deep\n/in/deep/b\n", "-ls", "-R", "-C", "/in")

	w.ok(t, "", "-get", "/in", dir+"/out")
	got, err := os.ReadFile(dir + "/out/deep/b")
	if string(got) != "beta" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	out, code := w.run("-get", "/in/a", dir+"/out/a")
	if code != 1 || !strings.Contains(out, "File exists") {
		t.Errorf("-get over a file: %q, code %d", out, code)
	}
	w.ok(t, "", "-get", "-f", "/in/a", dir+"/out/a")
	w.ok(t, "", "-copyToLocal", "/in/a", "file://"+dir+"/again")
	if got, err := os.ReadFile(dir + "/again"); string(got) != "beta" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A failed copy leaves no file, whether under the final or a temporary name.
func TestFailedCopyLeavesNoFile(t *testing.T) {
	w := newWorld(t)
	w.env.Stdin = &failing{after: "some bytes"}
	out, code := w.run("-put", "-", "/dir/new")
	if code != 1 || !strings.Contains(out, "put: the line is cut") {
		t.Errorf("%q, code %d", out, code)
	}
	w.ok(t, "/dir/f1\n/dir/f2\n/dir/sub\n", "-ls", "-C", "/dir")
}

type failing struct{ after string }

func (f *failing) Read(p []byte) (int, error) {
	n := copy(p, f.after)
	if f.after = f.after[n:]; n == 0 {
		return 0, os.NewSyscallError("the line is cut", os.ErrDeadlineExceeded)
	}
	return n, nil
}

func TestCancelledCommandIsInterrupted(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := Run(ctx, w.env, []string{"-ls", "/dir"}); code != 130 || w.output.String() != "ls: Interrupted\n" {
		t.Errorf("code %d, %q", code, w.output.String())
	}
}

func TestTextOfSequenceFiles(t *testing.T) {
	w, _ := onDisk(t)
	hadoop, err := filepath.Abs("../../data/format/seqfile/testdata/hadoop")
	must.Do(t, err)
	files, _ := filepath.Glob(hadoop + "/*.seq")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, name := range files {
		pair := name[strings.LastIndexByte(name, '-')+1:]
		want, err := os.ReadFile(hadoop + "/" + strings.TrimSuffix(pair, ".seq") + ".txt")
		must.Do(t, err)
		w.ok(t, string(want), "-text", name)
	}
}

func TestTextOfCompressedFiles(t *testing.T) {
	w, dir := onDisk(t)
	plain := strings.Repeat("some text\n", 1000)
	for _, name := range compress.Names() {
		codec, err := compress.Parse(name)
		must.Do(t, err)
		var packed bytes.Buffer
		out, err := codec.NewWriter(&packed, 0)
		must.Do(t, err)
		out.Write([]byte(plain))
		must.Do(t, out.Close())
		put1(t, dir+"/"+name+codec.Extension(), packed.String())
		w.ok(t, plain, "-text", name+codec.Extension())
		if name == "gzip" {
			put1(t, dir+"/noextension", packed.String())
			w.ok(t, plain, "-text", "noextension")
		}
	}
	put1(t, dir+"/cut.gz", "\x1f\x8b\x08\x00")
	put1(t, dir+"/cut.seq", "SEQ\x06\x19")
	for _, name := range []string{"cut.gz", "cut.seq"} {
		if out, code := w.run("-text", name); code != 1 || !strings.Contains(out, name) || !strings.Contains(out, "corrupt") {
			t.Errorf("%s: code %d, %q", name, code, out)
		}
	}
}

func TestHumanReadableSizes(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		want  string
	}{
		{0, "0"}, {1023, "1023"}, {1024, "1 K"}, {1280, "1.3 K"}, {1025, "1.0 K"},
		{1536, "1.5 K"}, {1048575, "1.0 M"}, {1 << 20, "1 M"}, {5 << 30, "5 G"},
		{1<<40 - 1, "1.0 T"}, {1<<63 - 1, "8.0 E"}, {12345678901, "11.5 G"},
	} {
		if got := size(c.bytes, true); got != c.want {
			t.Errorf("%d is %q, want %q", c.bytes, got, c.want)
		}
	}
}
