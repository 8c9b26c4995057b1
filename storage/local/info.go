package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/storage"
)

// Stat describes a file or directory, following symbolic links. A dangling link does not exist.
func (f *FS) Stat(ctx context.Context, name string) (storage.FileInfo, error) {
	name, err := storage.CleanPath(ctx, "stat", name)
	if err != nil {
		return storage.FileInfo{}, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return storage.FileInfo{}, err
	}
	return f.describe(name, info), nil
}

// List returns the entries of a directory, sorted by path; os.ReadDir sorts them. It
// describes a dangling symbolic link as the link itself, and omits an entry that is removed
// while List runs.
func (f *FS) List(ctx context.Context, dir string) ([]storage.FileInfo, error) {
	dir, err := storage.CleanPath(ctx, "list", dir)
	if err != nil {
		return nil, err
	}
	entries, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	infos := make([]storage.FileInfo, 0, len(entries))
	for _, entry := range entries {
		info, err := follow(path.Join(dir, entry.Name()), entry)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, f.describe(path.Join(dir, entry.Name()), info))
	}
	return infos, nil
}

// readDir does what os.ReadDir does, but its error names the directory even if the name
// belongs to a file. The contract requires the path in each error.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: syscall.ENOTDIR}
	}
	return entries, err
}

// follow describes the target of a symbolic link, or the link itself if its target is
// missing. It describes an entry that is not a link as it is.
func follow(name string, entry fs.DirEntry) (fs.FileInfo, error) {
	if entry.Type()&fs.ModeSymlink != 0 {
		if info, err := os.Stat(name); err == nil {
			return info, nil
		}
	}
	return entry.Info()
}

// describe converts the operating system's description of a file. The block size comes from
// the options, because local files have no blocks in HDFS's sense.
func (f *FS) describe(name string, info fs.FileInfo) storage.FileInfo {
	d := storage.FileInfo{
		Path:      name,
		IsDir:     info.IsDir(),
		ModTime:   info.ModTime(),
		Mode:      info.Mode().Perm(),
		BlockSize: f.opts.BlockSize,
	}
	if !d.IsDir {
		d.Size = info.Size()
		d.Mode |= info.Mode().Type()
		d.Replication = 1
	}
	d.Owner, d.Group = owners(info)
	if d.Inode = inode(info); d.Inode != 0 {
		d.Machine = thisMachine()
	}
	return d
}

// thisMachine returns a hash of the name of the machine and of its boot. Containers on one machine
// have names of their own, and copies of a file that lie in them have inodes of their own.
var thisMachine = sync.OnceValue(func() uint64 {
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return xxhash.Sum64String(name + "\n" + string(boot))
})

// Blocks divides the file into blocks of Options.BlockSize without hosts. The blocks exist
// only for the division into splits, as in Hadoop's LocalFileSystem.
func (f *FS) Blocks(ctx context.Context, name string, offset, length int64) ([]storage.Block, error) {
	info, err := f.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir {
		return nil, &fs.PathError{Op: "blocks", Path: name, Err: syscall.EISDIR}
	}
	return storage.EvenBlocks(info.Size, f.opts.BlockSize, offset, length)
}
