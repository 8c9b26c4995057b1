package mem

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/storage"
)

// node is a file or a directory. FS.mu guards its fields. The bytes of data are never modified
// in place, so readers may keep the slice.
//
//	root
//	 ├── user             children: a directory
//	 │    └── in          data: a file
//	 └── tmp
type node struct {
	children    map[string]*node // entries by name; nil for a file
	data        []byte           // content; nil until the file is closed
	modTime     time.Time        // time of Close for a file
	replication int              // recorded, and passed to Placement
	blockSize   int64
	createdAs   string // the path that is passed to Placement
	inode       uint64
	private     bool // CreateOptions.Private
}

// newDir returns an empty directory that is not in the tree yet.
func (f *FS) newDir() *node {
	return &node{children: map[string]*node{}, modTime: f.opts.Now()}
}

// newFile returns an empty file with the options of Create. Options that are zero get the
// defaults of the FS. The file is not in the tree yet: the caller adds it under its name.
// The lock is held.
func (f *FS) newFile(name string, opts storage.CreateOptions) *node {
	f.mu.made++
	return &node{
		inode:       f.mu.made,
		modTime:     f.opts.Now(),
		replication: cmp.Or(opts.Replication, f.opts.Replication),
		blockSize:   cmp.Or(opts.BlockSize, f.opts.BlockSize),
		createdAs:   name,
		private:     opts.Private,
	}
}

// split returns the components of a clean path; it returns none for the root.
func split(name string) []string {
	if name == "/" {
		return nil
	}
	return strings.Split(name[1:], "/")
}

// findLocked returns the node at a clean path, or nil. A path below a file finds nothing, since
// a file has no children.
func (f *FS) findLocked(name string) *node {
	n := f.mu.root
	for _, part := range split(name) {
		if n = n.children[part]; n == nil {
			return nil
		}
	}
	return n
}

// lookLocked does what findLocked does, but returns an error for a missing path. op is the
// call for the error.
func (f *FS) lookLocked(op, name string) (*node, error) {
	if n := f.findLocked(name); n != nil {
		return n, nil
	}
	return nil, pathError(op, name, fs.ErrNotExist)
}

// fileLocked returns the file at a path; a directory is an error. For a path of the wrong kind
// it returns the errors of the operating system, so that callers need no case for this file
// system. op is the call for the error.
func (f *FS) fileLocked(op, name string) (*node, error) {
	n, err := f.lookLocked(op, name)
	if err == nil && n.children != nil {
		return nil, pathError(op, name, syscall.EISDIR)
	}
	return n, err
}

// mkdirLocked returns the directory at a path, and creates it and its parents if necessary.
// A file in the place of a parent is an error, but the directories created before it remain.
// op is the call for the error.
func (f *FS) mkdirLocked(op, dir string) (*node, error) {
	n := f.mu.root
	for _, part := range split(dir) {
		next := n.children[part]
		if next == nil {
			next = f.newDir()
			n.children[part] = next
		}
		if next.children == nil {
			return nil, pathError(op, dir, syscall.ENOTDIR)
		}
		n = next
	}
	return n, nil
}

// unlinkLocked removes the name of a node; a missing name is not an error. The content of a
// directory is removed too. A file's memory is freed when its last reader ends.
func (f *FS) unlinkLocked(name string) {
	if parent := f.findLocked(path.Dir(name)); parent != nil {
		delete(parent.children, path.Base(name))
	}
}

// Stat describes a file or directory. A file that is being written has size 0 and the time of
// its creation.
func (f *FS) Stat(ctx context.Context, name string) (storage.FileInfo, error) {
	name, err := storage.CleanPath(ctx, "stat", name)
	if err != nil {
		return storage.FileInfo{}, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.lookLocked("stat", name)
	if err != nil {
		return storage.FileInfo{}, err
	}
	return f.describe(name, n), nil
}

// List returns the entries of a directory, sorted by path. It describes them at one moment,
// since the tree is locked. A file in place of a directory is an error.
func (f *FS) List(ctx context.Context, dir string) ([]storage.FileInfo, error) {
	dir, err := storage.CleanPath(ctx, "list", dir)
	if err != nil {
		return nil, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.lookLocked("list", dir)
	if err == nil && n.children == nil {
		err = pathError("list", dir, syscall.ENOTDIR)
	}
	if err != nil {
		return nil, err
	}
	infos := make([]storage.FileInfo, 0, len(n.children))
	for name, child := range n.children {
		infos = append(infos, f.describe(path.Join(dir, name), child))
	}
	slices.SortFunc(infos, func(a, b storage.FileInfo) int { return cmp.Compare(a.Path, b.Path) })
	return infos, nil
}

// describe returns the FileInfo of a node. Permissions and owners are constants, since no
// test needs others. A directory has the block size of the FS, which only shows in listings.
func (f *FS) describe(name string, n *node) storage.FileInfo {
	info := storage.FileInfo{
		Path: name, ModTime: n.modTime, IsDir: n.children != nil,
		Mode: 0o644, Owner: "hammr", Group: "hammr",
		Size: int64(len(n.data)), Replication: n.replication, BlockSize: n.blockSize, Inode: n.inode,
	}
	if n.private {
		info.Mode = storage.PrivateFile
	}
	if info.IsDir {
		info.Mode, info.BlockSize = 0o755, f.opts.BlockSize
	}
	return info
}

// Rename moves a file or a directory. The parent of the target must exist. Rename checks all
// conditions under the lock before it changes anything, as a NameNode does. A directory
// cannot move into itself: it would no longer be reachable from the root.
func (f *FS) Rename(ctx context.Context, from, to string) error {
	from, err := storage.CleanPath(ctx, "rename", from)
	if err != nil {
		return err
	}
	if to, err = storage.CleanPath(ctx, "rename", to); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.lookLocked("rename", from)
	if err != nil {
		return err
	}
	parent := f.findLocked(path.Dir(to))
	switch {
	case f.findLocked(to) != nil:
		err = fs.ErrExist
	case parent == nil:
		err = fs.ErrNotExist
	case parent.children == nil:
		err = syscall.ENOTDIR
	case strings.HasPrefix(to, from+"/"):
		err = fs.ErrInvalid
	}
	if err != nil {
		return pathError("rename", from+" to "+to, err)
	}
	f.unlinkLocked(from)
	parent.children[path.Base(to)] = n
	return nil
}

// Remove removes a file or a directory other than the root. A missing path is not an error.
// Files that are open for reading stay readable, since they have their bytes. A writer whose
// file was removed fails at Close.
func (f *FS) Remove(ctx context.Context, name string, recursive bool) error {
	name, err := storage.CleanPath(ctx, "remove", name)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.findLocked(name)
	switch {
	case n == nil:
		return nil
	case n == f.mu.root:
		return pathError("remove", name, fs.ErrInvalid)
	case len(n.children) > 0 && !recursive:
		return pathError("remove", name, syscall.ENOTEMPTY)
	}
	f.unlinkLocked(name)
	return nil
}

// Blocks divides the file by its block size and asks Placement for the hosts. A file that was
// renamed keeps its placement, because the path of its creation is used.
func (f *FS) Blocks(ctx context.Context, name string, offset, length int64) ([]storage.Block, error) {
	name, err := storage.CleanPath(ctx, "blocks", name)
	if err != nil {
		return nil, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.fileLocked("blocks", name)
	if err != nil {
		return nil, err
	}
	blocks, err := storage.EvenBlocks(int64(len(n.data)), n.blockSize, offset, length)
	for i := range blocks {
		b := &blocks[i]
		b.Hosts, b.Racks = f.opts.Place(n.createdAs, int(b.Offset/n.blockSize), n.replication)
	}
	return blocks, err
}
