package allocation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/jsonfile"
)

// A tasknode that has stopped has files of attempts (docs/formats/retained.md):
//
//	JOB/SHARD/ATTEMPT/…       saved if there is a record: output of a finished attempt, or a checkpoint
//	JOB/SHARD/ATTEMPT.retained    the record; saved
//	JOB/logs/…, JOB/logdir    saved
//	anything else             left: nothing needs it, and the tasknode removes it when it starts
//
// A saved tree has the same names below files/, and a list of all files with their checksums.

const (
	recordSuffix = ".retained" // of the record of an attempt
	logDirFile   = "logdir"    // where the logs of a job are copied when it is over

	listFile = "files.json" // in a saved tree: fileList
	filesDir = "files"      // in a saved tree: the files
)

// fileList lists the files of a saved tree.
type fileList struct {
	Version int         `json:"version"`
	Files   []savedFile `json:"files"` // in order of their paths
}

// savedFile is a file of a saved tree.
type savedFile struct {
	Path     string      `json:"path"` // below files/
	Bytes    int64       `json:"bytes"`
	Checksum string      `json:"xxhash64"` // hexadecimal
	Mode     fs.FileMode `json:"mode"`
}

// listVersion is the version of fileList.
const listVersion = 1

// treeInfo describes a saved tree.
type treeInfo struct {
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"xxhash64,omitempty"` // of its list, hexadecimal
}

// saveTree copies what a tasknode has to keep to a new directory. When it returns, all of it is
// on the disk under its final name.
func saveTree(ctx context.Context, from, to string) (treeInfo, error) {
	paths, err := savedPaths(from)
	if err != nil {
		return treeInfo{}, err
	}
	temporary := to + ".new"
	if err := os.RemoveAll(temporary); err != nil {
		return treeInfo{}, err
	}
	list := fileList{Version: listVersion, Files: make([]savedFile, len(paths))}
	err = eachFile(ctx, len(paths), func(i int) (err error) {
		list.Files[i], err = copyFile(filepath.Join(from, paths[i]), filepath.Join(temporary, filesDir, paths[i]), 0)
		list.Files[i].Path = paths[i]
		return err
	})
	if err == nil {
		err = os.MkdirAll(temporary, 0o700)
	}
	if err == nil {
		err = jsonfile.Write(filepath.Join(temporary, listFile), list, 0o600)
	}
	if err == nil {
		err = syncTree(temporary)
	}
	if err == nil {
		err = os.Rename(temporary, to)
	}
	if err == nil {
		err = syncPath(filepath.Dir(to))
	}
	if err != nil {
		return treeInfo{}, errors.Join(fmt.Errorf("saving of %s: %w", from, err), os.RemoveAll(temporary))
	}
	return list.info(to)
}

// info describes the tree that a list is in.
func (l fileList) info(tree string) (info treeInfo, err error) {
	for _, f := range l.Files {
		info.Bytes += f.Bytes
	}
	info.Files = len(l.Files)
	text, err := os.ReadFile(filepath.Join(tree, listFile))
	info.Checksum = hexSum(xxhash.Sum64(text))
	return info, err
}

// restoreTree copies a saved tree back to a directory, and verifies every byte. want describes
// the tree as the manifest has it.
func restoreTree(ctx context.Context, tree, to string, want treeInfo) (treeInfo, error) {
	var list fileList
	damaged := func(err error) (treeInfo, error) {
		return treeInfo{}, fmt.Errorf("saved files in %s are damaged: %w; give an empty --state to start over", tree, err)
	}
	if err := jsonfile.Read(filepath.Join(tree, listFile), &list); err != nil {
		return damaged(err)
	}
	info, err := list.info(tree)
	if err == nil && list.Version != listVersion {
		return treeInfo{}, fmt.Errorf("%s has version %d; this program reads version %d: use the program that has saved it", filepath.Join(tree, listFile), list.Version, listVersion)
	}
	if err == nil && info != want {
		err = fmt.Errorf("the list has %d files, %d bytes and checksum %s, and was saved with %d, %d and %s",
			info.Files, info.Bytes, info.Checksum, want.Files, want.Bytes, want.Checksum)
	}
	if err != nil {
		return damaged(err)
	}
	err = eachFile(ctx, len(list.Files), func(i int) error {
		f := list.Files[i]
		if !filepath.IsLocal(f.Path) {
			return fmt.Errorf("file %q lies outside", f.Path)
		}
		got, err := copyFile(filepath.Join(tree, filesDir, f.Path), filepath.Join(to, f.Path), f.Mode)
		if err == nil && (got.Bytes != f.Bytes || got.Checksum != f.Checksum) {
			err = fmt.Errorf("file %s has %d bytes with checksum %s, and was saved with %d and %s", f.Path, got.Bytes, got.Checksum, f.Bytes, f.Checksum)
		}
		return err
	})
	if err != nil {
		return damaged(err)
	}
	return info, nil
}

// savedPaths returns the files of a tasknode that are saved, in order. A directory that does not
// exist has none.
func savedPaths(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case !isSaved(dir, rel) && e.IsDir():
			return fs.SkipDir
		case !isSaved(dir, rel), !e.Type().IsRegular(): // what is no file, a task has made, and no record names it
			return nil
		}
		paths = append(paths, rel)
		return nil
	})
	slices.Sort(paths)
	return paths, err
}

// isSaved reports whether a path below the directory of a tasknode is saved, or may have paths
// below it that are.
func isSaved(dir, rel string) bool {
	parts := strings.Split(rel, string(filepath.Separator))
	if !strings.HasPrefix(parts[0], "job_") {
		return false
	}
	if len(parts) == 1 || parts[1] == taskdir.Logs || parts[1] == logDirFile {
		return true
	}
	if !taskdir.IsShard(parts[1]) || len(parts) == 2 {
		return taskdir.IsShard(parts[1])
	}
	name := strings.TrimSuffix(parts[2], recordSuffix)
	record, err := os.Lstat(filepath.Join(dir, parts[0], parts[1], name+recordSuffix))
	return err == nil && record.Mode().IsRegular()
}

// eachFile calls do for each of n files, a few at a time.
func eachFile(ctx context.Context, n int, do func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return do(i)
		})
	}
	return group.Wait()
}

// buffers are for copies.
var buffers = sync.Pool{New: func() any { b := make([]byte, 1<<20); return &b }}

// copyFile copies a regular file to a new one, makes it durable, and returns what was read. Mode
// 0 is that of the original.
func copyFile(from, to string, mode fs.FileMode) (copied savedFile, err error) {
	in, err := os.Open(from)
	if err != nil {
		return copied, err
	}
	defer in.Close() // it was only read
	if mode == 0 {
		info, err := in.Stat()
		if err != nil {
			return copied, err
		}
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return copied, err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm()|0o600)
	if err != nil {
		return copied, err
	}
	sum, buffer := xxhash.New(), buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	n, err := io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(out, sum)}, struct{ io.Reader }{in}, *buffer)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Chmod(to, mode.Perm())
	}
	return savedFile{Bytes: n, Checksum: hexSum(sum.Sum64()), Mode: mode.Perm()}, err
}

// hexSum formats a checksum.
func hexSum(sum uint64) string {
	text := strconv.FormatUint(sum, 16)
	return strings.Repeat("0", 16-len(text)) + text
}

// syncTree makes the directories of a tree durable, and the files directly in it. Files below
// are durable already.
func syncTree(tree string) error {
	return filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && filepath.Dir(path) != tree {
			return err
		}
		return syncPath(path)
	})
}

// syncPath makes a file or a directory durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
