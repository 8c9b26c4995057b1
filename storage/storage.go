// Package storage is where data lives: one FS interface over local files, HDFS
// and memory, with the hosts of each block. The implementations are in the
// packages below it; storage/fault wraps any of them and fails on command.
//
// A path handed to an FS is absolute and slash-separated, without scheme and
// authority ("/user/a/in"). A Router turns what a user types ("in",
// "file:///tmp/in", "hdfs://nn:8020/in") into an FS and such a path.
package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// FS is a file system. Its methods may be called by several goroutines at
// once. Errors wrap fs.ErrNotExist, fs.ErrExist and fs.ErrPermission where they
// apply, and name the path.
type FS interface {
	// URI is what stands before the path in a full name: "file://",
	// "hdfs://nn:8020", "mem://".
	URI() string

	// Open opens a file for reading.
	Open(ctx context.Context, path string) (File, error)

	// Create makes a new file and its missing parents. It refuses a path that
	// exists.
	Create(ctx context.Context, path string, opts CreateOptions) (Writer, error)

	// Stat describes a file or directory.
	Stat(ctx context.Context, path string) (FileInfo, error)

	// List describes what is in a directory, sorted by path. Listing a file is
	// an error.
	List(ctx context.Context, dir string) ([]FileInfo, error)

	// MkdirAll makes a directory and its missing parents; one that exists is
	// no error.
	MkdirAll(ctx context.Context, dir string) error

	// Rename moves a file or directory. It refuses a target that exists.
	Rename(ctx context.Context, from, to string) error

	// Remove removes a file or directory; one that is not there is no error.
	// A directory that is not empty is refused unless recursive is set.
	Remove(ctx context.Context, path string, recursive bool) error

	// Blocks describes the blocks that hold the bytes [offset, offset+length)
	// of a file, in order of offset. A file system without hosts returns one
	// block per BlockSize with no hosts.
	Blocks(ctx context.Context, path string, offset, length int64) ([]Block, error)

	// Concat appends the sources, in order, to target, which may be missing,
	// and removes them. It returns errors.ErrUnsupported, having changed
	// nothing, where that would mean to copy data.
	Concat(ctx context.Context, target string, sources []string) error
}

// File is an open file. ReadAt may be called by several goroutines at once;
// Read and Seek may not.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
}

// Writer writes a new file. The file is whole only when Close has returned
// nil; after an error the caller calls Abort, which removes it. Abort after a
// Close that returned nil does nothing.
type Writer interface {
	io.Writer
	// Close makes what was written readable at its full length.
	Close() error
	// Abort removes the file.
	Abort() error
}

// CreateOptions are the properties of a new file; 0 stands for the file
// system's default.
type CreateOptions struct {
	Replication int   // copies of each block
	BlockSize   int64 // bytes
}

// FileInfo describes a file or directory.
type FileInfo struct {
	Path        string // absolute, without scheme
	Size        int64  // bytes; 0 for a directory
	IsDir       bool
	ModTime     time.Time
	Mode        fs.FileMode // permission bits
	Owner       string
	Group       string
	Replication int   // copies of each block; 0 where the notion is missing
	BlockSize   int64 // bytes
}

// Block is a run of bytes of a file and the machines that hold a copy.
type Block struct {
	Offset int64    // bytes from the start of the file
	Length int64    // bytes
	Hosts  []string // host names or addresses; empty when any machine is as good
	Racks  []string // beside Hosts: the network location of each, "" when unknown
}

// ErrCorrupt marks data that does not match its checksum or its format.
var ErrCorrupt = errors.New("storage: corrupt data")
