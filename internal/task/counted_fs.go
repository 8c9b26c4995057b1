package task

import (
	"context"
	"strings"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/storage"
)

// Resolve returns the file system and the path of a full name. Its operations count as
// the attempt's.
func (a *Attempt) Resolve(ctx context.Context, name string) (storage.FS, string, error) {
	fs, path, err := a.Files.Resolve(ctx, name)
	if err != nil {
		return nil, "", err
	}
	return countFS(fs, a.Counters), path, nil
}

// countedFS counts the bytes and operations of a file system in Hadoop's File
// System Counters. Of local files it counts bytes only, as Hadoop does.
type countedFS struct {
	storage.FS
	read, written     *counter.Counter // bytes
	readOps, writeOps *counter.Counter // belong to no set for local files
}

// countFS returns fs with its bytes and operations counted in set. Counters of the scheme
// are looked up once, so that a Read costs one addition.
func countFS(fs storage.FS, set *counter.Set) storage.FS {
	scheme, _, _ := strings.Cut(fs.URI(), ":")
	c := &countedFS{
		FS:       fs,
		read:     set.Counter(counter.FSBytesRead(scheme)),
		written:  set.Counter(counter.FSBytesWritten(scheme)),
		readOps:  new(counter.Counter),
		writeOps: new(counter.Counter),
	}
	if scheme != "file" {
		c.readOps = set.Counter(counter.FSReadOps(scheme))
		c.writeOps = set.Counter(counter.FSWriteOps(scheme))
	}
	return c
}

// Open counts a read operation, and the bytes that are read from the file.
func (c *countedFS) Open(ctx context.Context, path string) (storage.File, error) {
	c.readOps.Add(1)
	f, err := c.FS.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &countedFile{f, byteCounter{c.read}}, nil
}

// Create counts a write operation, and the bytes that are written to the file.
func (c *countedFS) Create(ctx context.Context, path string, o storage.CreateOptions) (storage.Writer, error) {
	c.writeOps.Add(1)
	w, err := c.FS.Create(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return &countedWriter{w, byteCounter{c.written}}, nil
}

// Stat counts a read operation.
func (c *countedFS) Stat(ctx context.Context, path string) (storage.FileInfo, error) {
	c.readOps.Add(1)
	return c.FS.Stat(ctx, path)
}

// Remove counts a write operation.
func (c *countedFS) Remove(ctx context.Context, path string, recursive bool) error {
	c.writeOps.Add(1)
	return c.FS.Remove(ctx, path, recursive)
}

// byteCounter counts the bytes of reads or writes.
type byteCounter struct{ *counter.Counter }

// count adds the bytes that a Read or Write returned, and passes its results on.
func (c byteCounter) count(n int, err error) (int, error) {
	c.Add(int64(n))
	return n, err
}

// countedFile counts the bytes that are read.
type countedFile struct {
	storage.File
	bytes byteCounter
}

func (f *countedFile) Read(p []byte) (int, error) { return f.bytes.count(f.File.Read(p)) }

func (f *countedFile) ReadAt(p []byte, offset int64) (int, error) {
	return f.bytes.count(f.File.ReadAt(p, offset))
}

// countedWriter counts the bytes that are written.
type countedWriter struct {
	storage.Writer
	bytes byteCounter
}

func (w *countedWriter) Write(p []byte) (int, error) { return w.bytes.count(w.Writer.Write(p)) }
