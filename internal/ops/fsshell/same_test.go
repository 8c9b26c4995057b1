package fsshell

import (
	"context"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

// alias is a file system under another name.
type alias struct {
	storage.FS
	uri string
}

func (a alias) URI() string { return a.uri }

func (a alias) Identify(_ context.Context, path string) (storage.Identity, error) {
	return storage.ByName([]string{"the one NameNode"}, path), nil
}

// twoNames returns a shell over one file system with the names mem://a and mem://b.
func twoNames(t *testing.T) *world {
	w := &world{mem: mem.New(mem.Options{BlockSize: 2000, Now: time.Now})}
	w.connect(t, storage.Config{Default: "mem://a", WorkDir: "/", Open: map[string]storage.Opener{
		"mem": func(_ context.Context, authority string) (storage.FS, error) {
			return alias{w.mem, "mem://" + authority}, nil
		},
	}})
	w.file(t, "/dir/f", "content")
	w.file(t, "/dir/sub/g", "other")
	return w
}

// TestSameFileIsNotCopied copies files and directories onto and into themselves, under other names. They stay as
// they are.
func TestSameFileIsNotCopied(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"-cp -f -d /dir/f /dir/f", "cp: `/dir/f' to `/dir/f': are identical\n"},
		{"-cp -f /dir/f /dir", "cp: `/dir/f' to `/dir/f': are identical\n"},
		{"-cp -f -d mem://a/dir/f mem://b/dir/f", "are identical\n"},
		{"-cp -f -d mem://b/dir/../dir/f /dir/f", "are identical\n"},
		{"-cp mem://b/dir /dir/sub", "is a subdirectory of itself\n"},
		{"-mv mem://b/dir /dir/sub", "is a subdirectory of itself\n"},
	} {
		w := twoNames(t)
		if out, code := w.run(strings.Fields(c.command)...); code != 1 || !strings.HasSuffix(out, c.want) {
			t.Errorf("%s: code %d, %q; want %q", c.command, code, out, c.want)
		}
		w.ok(t, "contentother", "-cat", "/dir/f", "/dir/sub/g")
		w.ok(t, "/dir/f\n/dir/sub\n/dir/sub/g\n", "-ls", "-R", "-C", "/dir")
	}
	w := twoNames(t)
	w.ok(t, "", "-mv", "mem://b/dir/f", "mem://a/dir/sub/f")
	w.ok(t, "content", "-cat", "/dir/sub/f")
}

// TestLinksWithinTrees copies trees whose links lead to the target, to the source and to a directory above. Each
// such link is reported, all other files are copied, and the copy ends.
func TestLinksWithinTrees(t *testing.T) {
	for name, c := range map[string]struct {
		link, to  string // from a link in the source
		args, out string
	}{
		"to the target":   {"src/x", "dst", "-cp src/f src/x dst", "is a subdirectory of itself"},
		"below":           {"src/x", "dst", "-cp src dst", "is a subdirectory of itself"},
		"to the source":   {"src/x", "src", "-cp src dst", "is a link to a directory that contains it"},
		"to a parent":     {"src/deep/x", "src", "-cp src dst", "is a link to a directory that contains it"},
		"from the target": {"dst/src", "src", "-cp -f -d src dst", "are identical"},
		"deep":            {"dst/src/deep", "src/deep", "-cp -f -d src dst", "are identical"},
		"put":             {"src/x", "src", "-put src dst", "is a link to a directory that contains it"},
		"get":             {"dst/src", "src", "-get -f src dst", "are identical"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := onDisk(t)
			put1(t, dir+"/src/f", "content")
			put1(t, dir+"/src/deep/g", "other")
			for _, made := range []string{"/dst", path.Dir(c.link)} {
				must.Do(t, os.MkdirAll(dir+"/"+strings.TrimPrefix(made, "/"), 0o755))
			}
			must.Do(t, os.Symlink(dir+"/"+c.to, dir+"/"+c.link))
			if out, code := w.run(strings.Fields(strings.NewReplacer(" src", " "+dir+"/src", " dst", " "+dir+"/dst").Replace(c.args))...); code != 1 || !strings.Contains(out, c.out) {
				t.Errorf("code %d, %q", code, out)
			}
			w.ok(t, "contentother", "-cat", "src/f", "src/deep/g")
			copied := dir + "/dst/src/f"
			if strings.Contains(c.args, "src/f") {
				copied = dir + "/dst/f"
			}
			if c.out != "are identical" {
				if found, err := os.ReadFile(copied); string(found) != "content" {
					t.Errorf("the other files are not copied: %q, %v", found, err)
				}
			}
		})
	}
}

// TestEscapedNames creates, shows and removes files whose names have the characters of patterns.
func TestEscapedNames(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ escaped, name string }{
		{`/new/a\*b`, "/new/a*b"}, {`/new/\{x\}`, "/new/{x}"}, {`/new/c\\d`, `/new/c\d`}, {`/new/\[e]`, "/new/[e]"},
	} {
		w.ok(t, "", "-mkdir", "-p", c.escaped)
		w.ok(t, "", "-touchz", c.escaped+"/f")
		w.ok(t, c.name+"/f\n", "-ls", "-C", c.escaped)
		w.ok(t, "", "-cp", "/dir/f1", c.escaped+`/g\?`)
		w.ok(t, "a\nb\n", "-cat", c.escaped+`/g\?`)
		w.ok(t, "Deleted "+c.name+"\n", "-rm", "-r", c.escaped)
	}
	if out, code := w.run("-touchz", "/new/a*"); code != 1 || !strings.Contains(out, "No such file or directory") {
		t.Errorf("a pattern without a match: code %d, %q", code, out)
	}
}
