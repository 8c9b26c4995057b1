package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

// named is a file system that has only a name and counts calls of Close.
type named struct {
	*mem.FS
	uri    string
	closed int
}

func (n *named) URI() string  { return n.uri }
func (n *named) Close() error { n.closed++; return nil }

func opener(scheme string) storage.Opener {
	return func(_ context.Context, authority string) (storage.FS, error) {
		return &named{FS: mem.New(mem.Options{}), uri: scheme + "://" + authority}, nil
	}
}

func newRouter(t testing.TB, def string) *storage.Router {
	r, err := storage.NewRouter(storage.Config{Default: def, User: "ann", WorkDir: "/work/dir",
		Open: map[string]storage.Opener{"file": opener("file"), "hdfs": opener("hdfs"), "mem": opener("mem")}})
	must.Do(t, err)
	return r
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ def, name, want string }{
		{"", "in", "file:/work/dir/in"},
		{"local", "./a/../in/", "file:/work/dir/in"},
		{"file:///", "/tmp//in", "file:/tmp/in"},
		{"", "file:/in", "file:/in"},
		{"", "FILE:///in/*", "file:/in/*"},
		{"", "file:///", "file:/"},
		{"", "a:b", "file:/work/dir/a:b"},
		{"", "dir/x:/y", "file:/work/dir/dir/x:/y"},
		{"", "100%25", "file:/work/dir/100%25"},
		{"", "hdfs://nn:8020/in", "hdfs://nn:8020/in"},
		{"", "hdfs://nn", "hdfs://nn/"},
		{"", "mem:///x", "mem:/x"},
		{"hdfs://nn:8020", "in", "hdfs://nn:8020/user/ann/in"},
		{"hdfs://nn:8020/", "/in", "hdfs://nn:8020/in"},
		{"nn:8020", "/in", "hdfs://nn:8020/in"},
		{"hdfs://ns", "hdfs:///in", "hdfs://ns/in"},
		{"hdfs://ns", "hdfs:/in", "hdfs://ns/in"},
		{"hdfs://ns", "hdfs://other/in", "hdfs://other/in"},
		{"hdfs://ns", "file:///in", "file:/in"},
		{"mem:///", "in", "mem:/in"},
	} {
		fsys, name, err := newRouter(t, c.def).Resolve(t.Context(), c.name)
		if err != nil {
			t.Errorf("%q with default %q: %v", c.name, c.def, err)
		} else if got := storage.Name(fsys, name); got != c.want {
			t.Errorf("%q with default %q: %s, want %s", c.name, c.def, got, c.want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	for name, want := range map[string]string{
		"":              "empty path",
		"s3://bucket/x": `"s3"; known are file, hdfs, mem`,
		"file://tmp/in": "file:///tmp/in",
		"hdfs:///in":    "set fs.defaultFS",
	} {
		_, _, err := newRouter(t, "").Resolve(t.Context(), name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v, want %q in it", name, err, want)
		}
	}
	for _, def := range []string{"nonsense", "/path", "s3://x"} {
		if _, err := storage.NewRouter(storage.Config{Default: def}); err == nil || !strings.Contains(err.Error(), def) {
			t.Errorf("default %q: %v", def, err)
		}
	}
}

func TestRouterOpensOnceAndCloses(t *testing.T) {
	r := newRouter(t, "")
	var wg sync.WaitGroup
	seen := make(chan storage.FS, 10)
	for range 10 {
		wg.Go(func() {
			fsys, _, err := r.Resolve(t.Context(), "hdfs://nn/x")
			if err != nil {
				t.Error(err)
			}
			seen <- fsys
		})
	}
	wg.Wait()
	first := <-seen
	for range 9 {
		if another := <-seen; another != first {
			t.Error("opened twice")
		}
	}
	if err := r.Close(); err != nil || first.(*named).closed != 1 {
		t.Errorf("closed %d times, %v", first.(*named).closed, err)
	}
	if err := r.Close(); err != nil || first.(*named).closed != 1 {
		t.Errorf("second Close: closed %d times, %v", first.(*named).closed, err)
	}
	if _, _, err := r.Resolve(t.Context(), "hdfs://nn/x"); err == nil {
		t.Error("a closed Router resolves")
	}
}

func TestRouterTriesAgain(t *testing.T) {
	calls := 0
	r, err := storage.NewRouter(storage.Config{Default: "mem:///", Open: map[string]storage.Opener{
		"mem": func(context.Context, string) (storage.FS, error) {
			if calls++; calls == 1 {
				return nil, fault.ErrInjected
			}
			return mem.New(mem.Options{}), nil
		}}})
	must.Do(t, err)
	if _, _, err := r.Resolve(t.Context(), "/x"); !errors.Is(err, fault.ErrInjected) {
		t.Errorf("first: %v", err)
	}
	if _, _, err := r.Resolve(t.Context(), "/x"); err != nil {
		t.Errorf("second: %v", err)
	}
}

func routerTo(t testing.TB, fsys storage.FS) *storage.Router {
	r, err := storage.NewRouter(storage.Config{Default: "mem:///", Open: map[string]storage.Opener{
		"mem": func(context.Context, string) (storage.FS, error) { return fsys, nil }}})
	must.Do(t, err)
	return r
}

func TestInputs(t *testing.T) {
	m := memWith(t, "/in/b", "/in/a", "/in/_SUCCESS", "/in/.crc", "/deep/x/2", "/deep/x/1", "/deep/a", "/deep/_temporary/t", "/_odd/f")
	storagetest.Write(t, m, "/one", nil)
	for _, c := range []struct {
		patterns  string
		recursive bool
		want      string
	}{
		{"/in", false, "/in/a /in/b"},
		{"/one /in/ in/b", false, "/one /in/a /in/b /in/b"},
		{"mem:/in/[ab]", false, "/in/a /in/b"},
		{"/in/*", false, "/in/a /in/b"},
		{"/in/_*", false, "/in/_SUCCESS"},
		{"/in/_SUCCESS", false, "/in/_SUCCESS"},
		{"/_odd", false, "/_odd/f"},
		{"/deep", true, "/deep/a /deep/x/1 /deep/x/2"},
		{"/{in,one}", false, "/in/a /in/b /one"},
		{"/deep/*", false, "/deep/a /deep/x/1 /deep/x/2"},
	} {
		inputs, err := storage.Inputs(t.Context(), routerTo(t, m), strings.Fields(c.patterns), c.recursive)
		var got []string
		for _, in := range inputs {
			got = append(got, in.Path)
			if in.Name != "mem:"+in.Path || in.FS != m {
				t.Errorf("%s is named %s", in.Path, in.Name)
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v; want %q", c.patterns, got, err, c.want)
		}
	}
}

func TestInputErrors(t *testing.T) {
	m := memWith(t, "/in/a", "/in/sub/b", "/hid/_x", "/f")
	for pattern, want := range map[string]string{
		"/none":   "Input path does not exist: mem:/none",
		"/f/sub":  "Input path does not exist: mem:/f/sub",
		"/none/*": "Input Pattern mem:/none/* matches 0 files",
		"/hid/*":  "Input Pattern mem:/hid/* matches 0 files",
		"/in": "Not a file: mem:/in/sub: to read directories within the input " +
			"set mapreduce.input.fileinputformat.input.dir.recursive=true",
	} {
		_, err := storage.Inputs(t.Context(), routerTo(t, m), []string{pattern}, false)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
		if pattern != "/in" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v does not wrap fs.ErrNotExist", pattern, err)
		}
	}
	_, err := storage.Inputs(t.Context(), routerTo(t, m), []string{"/none", "/f", "/no*"}, false)
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two faults: %v", err)
	}
	f := fault.New(m, fault.Options{}, fault.Rule{Op: fault.List, Err: fs.ErrPermission})
	if _, err := storage.Inputs(t.Context(), routerTo(t, f), []string{"/in"}, false); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unreadable directory: %v", err)
	}
}

func TestCanonicalName(t *testing.T) {
	for name, want := range map[string]string{
		"hdfs://NN:8020/a//b/../c/": "hdfs://nn:8020/a/c",
		"HDFS://nn/":                "hdfs://nn:8020",
		"hdfs://nn/a":               "hdfs://nn:8020/a",
		"hdfs://[::1]/a":            "hdfs://[::1]:8020/a",
		"hdfs://[::1]:8020/a":       "hdfs://[::1]:8020/a",
		"hdfs:///a":                 "hdfs:///a",
		"file:/tmp/x":               "file:///tmp/x",
		"file:///tmp/./x":           "file:///tmp/x",
		"file://localhost/tmp/x":    "file:///tmp/x",
	} {
		if got := storage.CanonicalName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestCheckOutput(t *testing.T) {
	for name, c := range map[string]struct {
		dirs, files []string
		free        bool
	}{
		"missing":            {free: true},
		"empty":              {dirs: []string{"/out"}},
		"empty leftover":     {dirs: []string{"/out/_temporary"}, free: true},
		"another unfinished": {dirs: []string{"/out/_temporary/job_1_0002"}},
		"leftover pieces":    {files: []string{"/out/_temporary/job_1_0002/a"}},
		"leftover and file":  {dirs: []string{"/out/_temporary"}, files: []string{"/out/part-r-00000"}},
		"a file":             {files: []string{"/out"}},
	} {
		m := mem.New(mem.Options{})
		for _, dir := range c.dirs {
			must.Do(t, m.MkdirAll(t.Context(), dir))
		}
		for _, file := range c.files {
			storagetest.Write(t, m, file, nil)
		}
		err := storage.CheckOutput(t.Context(), m, "/out", "mem:///out")
		if (err == nil) != c.free || err != nil && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, want it to be free: %v", name, err, c.free)
		}
	}
}

// TestRouterForgetsAuthorities resolves names of many authorities, as jobs can name them.
func TestRouterForgetsAuthorities(t *testing.T) {
	opens := make(map[string]int)
	open := func(_ context.Context, authority string) (storage.FS, error) {
		if opens[authority]++; strings.HasPrefix(authority, "wrong") {
			return nil, errors.New("no answer")
		}
		return &named{FS: mem.New(mem.Options{}), uri: "hdfs://" + authority}, nil
	}
	r, err := storage.NewRouter(storage.Config{Default: "hdfs://nn", User: "ann", WorkDir: "/", Open: map[string]storage.Opener{"hdfs": open}})
	must.Do(t, err)
	resolve := func(name string) (storage.FS, error) {
		fsys, _, err := r.Resolve(t.Context(), name)
		return fsys, err
	}
	first, err := resolve("/in")
	must.Do(t, err)
	var kept storage.FS
	for i := range 1000 {
		for _, name := range []string{fmt.Sprintf("hdfs://x:%d/in", i), fmt.Sprintf("hdfs://wrong%d/in", i), "hdfs://often/in"} {
			fsys, err := resolve(name)
			if (err != nil) != strings.Contains(name, "wrong") {
				t.Fatal(err)
			}
			if strings.Contains(name, "often") {
				kept = fsys
			}
		}
	}
	if n := storage.OpenFileSystems(r); n > 64 {
		t.Errorf("%d file systems are kept", n)
	}
	if again, _ := resolve("/in"); again != first || opens["nn"] != 1 {
		t.Error("the default file system was forgotten")
	}
	if again, _ := resolve("hdfs://often/in"); again != kept || opens["often"] != 1 {
		t.Error("a file system that is used often was forgotten")
	}
	if _, err := resolve("hdfs://x:0/in"); err != nil || opens["x:0"] != 2 {
		t.Errorf("a forgotten file system was opened %d times: %v", opens["x:0"], err)
	}
	if _, err := resolve("hdfs://wrong1/in"); err == nil || opens["wrong1"] != 2 {
		t.Errorf("a file system that could not be opened was opened %d times: %v", opens["wrong1"], err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
