package storagetest

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/hammr/hammr/storage"
)

// stat describes a file and a directory. Splits need the size and the block size of a file,
// so both must be set. The size of a directory must be 0, although local file systems report
// another size.
func (s suite) stat() {
	_, err := s.fs.Stat(s.ctx(), s.path("none"))
	s.wantErr(err, fs.ErrNotExist, "none")
	s.write("d/f", []byte("12345"))
	info, err := s.fs.Stat(s.ctx(), s.path("d/f"))
	s.must(err)
	if info.Path != s.path("d/f") || info.Size != 5 || info.IsDir || info.BlockSize <= 0 || info.ModTime.IsZero() || info.Mode.Perm() == 0 {
		s.t.Errorf("file: %+v", info)
	}
	info, err = s.fs.Stat(s.ctx(), s.path("d"))
	s.must(err)
	if info.Path != s.path("d") || info.Size != 0 || !info.IsDir {
		s.t.Errorf("directory: %+v", info)
	}
}

// list lists names whose order differs between alphabets, with directories and files mixed.
// They must be in the order of the bytes of the paths: it decides the order of a job's input
// files, and so of equal keys. Each entry must equal the result of Stat.
//
// The names are created in the opposite order, so that an implementation which returns them
// in the order of creation fails. An empty directory has no entries, and a file or a missing
// path is an error.
func (s suite) list() {
	names := []string{"B", "a", "a-b", "a.b", "b", "é"}
	for i := len(names) - 1; i >= 0; i-- {
		s.write("d/"+names[i], []byte(names[i]))
	}
	s.must(s.fs.MkdirAll(s.ctx(), s.path("d/sub/deeper")))
	infos, err := s.fs.List(s.ctx(), s.path("d"))
	s.must(err)
	var got []string
	for _, info := range infos {
		got = append(got, info.Path)
		stat, err := s.fs.Stat(s.ctx(), info.Path)
		s.must(err)
		if stat.IsDir != info.IsDir || stat.Size != info.Size || stat.Path != info.Path {
			s.t.Errorf("listed as %+v, but stat says %+v", info, stat)
		}
	}
	var want []string
	for _, name := range append(names, "sub") {
		want = append(want, s.path("d/"+name))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Errorf("listed %q, want %q", got, want)
	}
	if infos, err := s.fs.List(s.ctx(), s.path("d/sub/deeper")); err != nil || len(infos) != 0 {
		s.t.Errorf("empty directory: %v, %v", infos, err)
	}
	_, err = s.fs.List(s.ctx(), s.path("none"))
	s.wantErr(err, fs.ErrNotExist, "none")
	_, err = s.fs.List(s.ctx(), s.path("d/a"))
	s.wantErr(err, nil, "d/a")
}

// mkdir makes a directory twice, which is not an error, since several tasks may make the
// directory of their outputs. It must fail if a file has the directory's name, or the name
// of a parent.
func (s suite) mkdir() {
	for range 2 {
		s.must(s.fs.MkdirAll(s.ctx(), s.path("a/b/c")))
	}
	s.write("f", nil)
	s.wantErr(s.fs.MkdirAll(s.ctx(), s.path("f")), nil, "f")
	s.wantErr(s.fs.MkdirAll(s.ctx(), s.path("f/below")), nil, "f")
}

// rename moves a file to another directory, and a directory with its content into another. The
// commit of a job consists of such renames. The new name must have the same bytes, and the old
// one must be free.
func (s suite) rename() {
	data := Pattern(1000)
	s.write("d/from", data)
	s.must(s.fs.MkdirAll(s.ctx(), s.path("e")))
	s.must(s.fs.Rename(s.ctx(), s.path("d/from"), s.path("e/to")))
	s.wantMissing("d/from")
	s.wantData("e/to", data)
	s.must(s.fs.Rename(s.ctx(), s.path("e"), s.path("d/e")))
	s.wantMissing("e")
	s.wantData("d/e/to", data)
}

// renameRefuses renames in the ways that must fail, each without a change:
//
//	over a file or a directory, even an empty one    fs.ErrExist
//	a source that does not exist                     fs.ErrNotExist
//	into a directory that does not exist             fs.ErrNotExist
//	a directory into itself                          any error
//
// The commit relies on the first rule: of two attempts that rename to one name, one fails.
func (s suite) renameRefuses() {
	s.write("f", []byte("f"))
	s.write("g", []byte("g"))
	s.must(s.fs.MkdirAll(s.ctx(), s.path("empty")))
	s.must(s.fs.MkdirAll(s.ctx(), s.path("dir")))
	for _, to := range []string{"g", "empty"} {
		for _, from := range []string{"f", "dir"} {
			s.wantErr(s.fs.Rename(s.ctx(), s.path(from), s.path(to)), fs.ErrExist, to)
		}
	}
	s.wantData("f", []byte("f"))
	s.wantData("g", []byte("g"))
	s.wantErr(s.fs.Rename(s.ctx(), s.path("none"), s.path("x")), fs.ErrNotExist, "none")
	s.wantErr(s.fs.Rename(s.ctx(), s.path("f"), s.path("none/x")), fs.ErrNotExist, "f")
	s.wantErr(s.fs.Rename(s.ctx(), s.path("dir"), s.path("dir/below")), nil, "dir")
	s.wantData("f", []byte("f"))
}

// remove calls Remove in each way that must succeed, and in the way that must fail:
//
//	a missing path                    no error, so that cleaning up may run twice
//	a file, an empty directory        removed
//	a tree, with recursive            removed
//	a tree, without recursive         any error, and nothing is removed
func (s suite) remove() {
	s.write("d/e/f", []byte("f"))
	s.must(s.fs.MkdirAll(s.ctx(), s.path("empty")))
	s.must(s.fs.Remove(s.ctx(), s.path("none"), false))
	s.must(s.fs.Remove(s.ctx(), s.path("none"), true))
	s.must(s.fs.Remove(s.ctx(), s.path("empty"), false))
	s.wantMissing("empty")
	s.wantErr(s.fs.Remove(s.ctx(), s.path("d"), false), nil, "d")
	s.wantData("d/e/f", []byte("f"))
	s.must(s.fs.Remove(s.ctx(), s.path("d/e/f"), false))
	s.wantMissing("d/e/f")
	s.write("d/e/f", []byte("f"))
	s.must(s.fs.Remove(s.ctx(), s.path("d"), true))
	s.wantMissing("d")
}

// blocks requests ranges at the start, at the end, across blocks and beyond the file. The
// blocks of any range must cover it, because splits add up the bytes that each host has. A
// range without bytes, or behind the end of the file, has no blocks. A file that does not
// exist is an error.
func (s suite) blocks() {
	const size = 5000
	s.write("f", Pattern(size))
	for _, r := range [][2]int64{{0, size}, {0, 1}, {size - 1, 1}, {1234, 2345}, {0, 1 << 60}, {size, 10}, {10, 0}} {
		blocks, err := s.fs.Blocks(s.ctx(), s.path("f"), r[0], r[1])
		s.must(err)
		end := min(r[0]+r[1], size)
		if r[0] >= end {
			if len(blocks) != 0 {
				s.t.Errorf("blocks of the empty range %v: %v", r, blocks)
			}
			continue
		}
		s.wantCover(blocks, r[0], end, size)
	}
	_, err := s.fs.Blocks(s.ctx(), s.path("none"), 0, 1)
	s.wantErr(err, fs.ErrNotExist, "none")
}

// wantCover checks that the blocks are contiguous, lie within the file, and cover [start,
// end), and that each block overlaps this range. Racks are optional, but a block with racks
// must have one for each host.
func (s suite) wantCover(blocks []storage.Block, start, end, size int64) {
	s.t.Helper()
	if len(blocks) == 0 {
		s.t.Fatalf("no blocks for [%d,%d)", start, end)
	}
	at := blocks[0].Offset
	for _, b := range blocks {
		if b.Offset != at || b.Length <= 0 || b.Offset >= end || b.Offset+b.Length <= start {
			s.t.Errorf("block %+v for [%d,%d)", b, start, end)
		}
		if len(b.Racks) != 0 && len(b.Racks) != len(b.Hosts) {
			s.t.Errorf("block with %d hosts and %d racks", len(b.Hosts), len(b.Racks))
		}
		at += b.Length
	}
	if blocks[0].Offset > start || at < end || at > size {
		s.t.Errorf("blocks %v for [%d,%d) of %d", blocks, start, end, size)
	}
}

// concat joins files to an existing and to a new target. The sources vanish, the target has
// their bytes in order, and a missing source changes nothing. If the file system cannot join
// without copying, it must return errors.ErrUnsupported and change nothing; storage.Join
// then copies.
func (s suite) concat() {
	s.write("a", []byte("aa"))
	s.write("b", []byte("b"))
	err := s.fs.Concat(s.ctx(), s.path("a"), []string{s.path("b")})
	if errors.Is(err, errors.ErrUnsupported) {
		s.wantData("a", []byte("aa"))
		s.wantData("b", []byte("b"))
		return
	}
	s.must(err)
	s.wantData("a", []byte("aab"))
	s.wantMissing("b")
	s.write("c", []byte("c"))
	s.must(s.fs.Concat(s.ctx(), s.path("new"), []string{s.path("c"), s.path("a")}))
	s.wantData("new", []byte("caab"))
	s.wantMissing("a")
	s.wantMissing("c")
	s.wantErr(s.fs.Concat(s.ctx(), s.path("new"), []string{s.path("none")}), fs.ErrNotExist, "none")
	s.wantData("new", []byte("caab"))
}

// cancelled calls everything with a context that has ended. No call may have an effect. Each
// error must wrap context.Canceled, so that callers can distinguish it from a failure. A job
// that is killed ends quickly only if its calls do.
func (s suite) cancelled() {
	s.write("f", []byte("f"))
	ctx, cancel := context.WithCancel(s.ctx())
	cancel()
	_, open := s.fs.Open(ctx, s.path("f"))
	_, create := s.fs.Create(ctx, s.path("g"), storage.CreateOptions{})
	_, stat := s.fs.Stat(ctx, s.path("f"))
	_, list := s.fs.List(ctx, s.dir)
	for op, err := range map[string]error{
		"open": open, "create": create, "stat": stat, "list": list,
		"mkdir":  s.fs.MkdirAll(ctx, s.path("d")),
		"rename": s.fs.Rename(ctx, s.path("f"), s.path("h")),
		"remove": s.fs.Remove(ctx, s.path("f"), false),
	} {
		if !errors.Is(err, context.Canceled) {
			s.t.Errorf("%s with a cancelled context: %v", op, err)
		}
	}
	s.wantData("f", []byte("f"))
	s.wantMissing("g")
}
