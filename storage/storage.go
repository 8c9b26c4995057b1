// Package storage defines the file system interface FS, which local files, HDFS and memory
// implement. FS also reports the hosts of each block. The implementations are in the
// packages below storage; storage/fault wraps any of them and injects faults.
//
// A path that is passed to an FS is absolute and slash-separated, without scheme and
// authority ("/user/a/in"). A Router resolves the names that a user types ("in",
// "file:///tmp/in", "hdfs://nn:8020/in") to an FS and such a path.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"time"
)

// FS is a file system. It is safe for concurrent use. Errors name the path and wrap
// fs.ErrNotExist, fs.ErrExist and fs.ErrPermission if they apply. The end of a context ends
// a call with the context's error. Package storagetest checks an implementation against
// these rules.
//
// The contract demands no more than HDFS provides, so that a job behaves the same on every
// file system. Files are written once from start to end, directories have no size, and no
// call replaces an existing file.
type FS interface {
	// URI returns the prefix of full names: "file://", "hdfs://nn:8020", "mem://".
	URI() string

	// Open opens a file for reading.
	Open(ctx context.Context, path string) (File, error)

	// Create creates a file and, unless opts.NoParents is set, its missing parents. It fails
	// if the path exists.
	Create(ctx context.Context, path string, opts CreateOptions) (Writer, error)

	// Stat describes a file or a directory.
	Stat(ctx context.Context, path string) (FileInfo, error)

	// List returns the entries of a directory, sorted by path. It fails for a file.
	List(ctx context.Context, dir string) ([]FileInfo, error)

	// MkdirAll creates a directory and its missing parents. It succeeds if the directory
	// exists.
	MkdirAll(ctx context.Context, dir string) error

	// Rename moves a file or a directory. It fails if the target exists.
	Rename(ctx context.Context, from, to string) error

	// Remove removes a file or a directory. It succeeds if the path does not exist. It fails
	// for a directory that is not empty unless recursive is set.
	Remove(ctx context.Context, path string, recursive bool) error

	// Blocks returns the blocks that overlap the bytes [offset, offset+length) of a file, in
	// order of offset. A file system without hosts returns blocks of BlockSize bytes without
	// hosts.
	Blocks(ctx context.Context, path string, offset, length int64) ([]Block, error)

	// Concat appends the sources, in order, to target, which may not exist yet, and removes
	// the sources. If the file system would have to copy data, Concat changes nothing and
	// returns errors.ErrUnsupported.
	Concat(ctx context.Context, target string, sources []string) error
}

// File is an open file. ReadAt is safe for concurrent use; Read and Seek are not.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
}

// Writer writes a new file. The file is complete only after Close has returned nil. After an
// error the caller calls Abort, which removes the file. Abort does nothing after a
// successful Close.
//
// A reader that opens the file before Close sees an unspecified part of it. An attempt
// therefore writes to a name that no reader knows, and renames the file when it is complete.
type Writer interface {
	io.Writer
	// Close makes the file readable at its full length.
	Close() error
	// Abort removes the file.
	Abort() error
}

// CreateOptions are the properties of a new file. Zero means the default of the file system.
type CreateOptions struct {
	Replication int   // copies of each block
	BlockSize   int64 // bytes

	// NoParents makes Create fail with fs.ErrNotExist if the parent does not exist. An
	// attempt that runs on after its job has ended then cannot make the job's directory again.
	NoParents bool

	// Private makes the file and its missing parents readable only for their owner and the directory's
	// group: modes PrivateFile and PrivateDir. On local files the group has rights only if the directory
	// has the setgid bit, and files of root get the owner of the directory, whose daemon reads them.
	Private bool
}

// Modes of what CreateOptions.Private makes. Others may pass a directory, because a missing parent
// may be that of directories which are not private, but they cannot list it.
const (
	PrivateFile fs.FileMode = 0o640
	PrivateDir  fs.FileMode = 0o751
)

// FileInfo describes a file or a directory.
type FileInfo struct {
	Path        string // absolute, without scheme
	Size        int64  // bytes; 0 for a directory
	IsDir       bool
	ModTime     time.Time
	Mode        fs.FileMode // permission bits; and the type bits of a file that is neither regular nor a directory
	Owner       string
	Group       string
	Replication int   // copies of each block; 0 if the file system does not replicate
	BlockSize   int64 // bytes

	// Inode is a number that a file keeps for its life, and that another file of the same name
	// does not have; 0 if the file system has none. It counts on one Machine, or on every
	// machine if Machine is 0.
	Inode   uint64
	Machine uint64 // a hash
}

// Block is a range of bytes of a file, with the machines that have a copy.
type Block struct {
	Offset int64    // bytes from the start of the file
	Length int64    // bytes
	Hosts  []string // host names or addresses; empty if location does not matter
	Racks  []string // parallel to Hosts: the network location of each host, "" if unknown
}

// ErrCorrupt marks data that does not match its checksum or its format.
var ErrCorrupt = errors.New("storage: corrupt data")

// CleanPath checks a path for an FS: it cleans the path and rejects a relative one, since
// the Router resolves names. It also returns the error of a cancelled context. Op is for the
// error.
func CleanPath(ctx context.Context, op, name string) (string, error) {
	err := ctx.Err()
	if err == nil && !path.IsAbs(name) {
		err = fmt.Errorf("path is not absolute: %w", fs.ErrInvalid)
	}
	if err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	return path.Clean(name), nil
}

// EvenBlocks implements FS.Blocks for a file system that does not place blocks on hosts. It
// returns the blocks of blockSize bytes that overlap [offset, offset+length) of a file of
// size bytes, without hosts. The last block of the file may be shorter.
func EvenBlocks(size, blockSize, offset, length int64) ([]Block, error) {
	if offset < 0 || length < 0 || blockSize <= 0 {
		return nil, fmt.Errorf("storage: impossible range of %d bytes at %d in blocks of %d", length, offset, blockSize)
	}
	if offset >= size || length == 0 {
		return nil, nil
	}
	end := size
	if length < size-offset {
		end = offset + length
	}
	first := offset - offset%blockSize
	blocks := make([]Block, 0, (end-1-first)/blockSize+1)
	for at := first; at < end; {
		n := min(blockSize, size-at)
		blocks = append(blocks, Block{Offset: at, Length: n})
		at += n
	}
	return blocks, nil
}

// Walk yields root and, if it is a directory, everything below it: a directory before its
// entries, entries in order of name. After an error for a directory it skips that directory
// and continues, unless the caller stops.
func Walk(ctx context.Context, fsys FS, root string) iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) {
		info, err := fsys.Stat(ctx, root)
		if err != nil {
			yield(info, err)
			return
		}
		walk(ctx, fsys, info, yield)
	}
}

// walk yields one entry and everything below it. It reports whether to continue.
func walk(ctx context.Context, fsys FS, info FileInfo, yield func(FileInfo, error) bool) bool {
	if !yield(info, nil) {
		return false
	}
	if !info.IsDir {
		return true
	}
	children, err := fsys.List(ctx, info.Path)
	if err != nil {
		return yield(info, err)
	}
	for _, child := range children {
		if !walk(ctx, fsys, child, yield) {
			return false
		}
	}
	return true
}
