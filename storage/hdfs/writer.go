package hdfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/hammr/hammr/storage"
)

// The goroutine gets chunks of behindChunk bytes, each filled by many small writes of the
// caller. behindDepth chunks may wait. So a writer has at most (behindDepth+2) chunks in
// memory, in addition to its spool.
const (
	behindChunk = 512 << 10 // bytes passed to the upload goroutine at a time
	behindDepth = 3         // number of chunks that may wait for it
)

// writeChunks has the chunks that no writer uses.
var writeChunks = sync.Pool{New: func() any { return new([behindChunk]byte) }}

// giveChunk returns a chunk to writeChunks, if it has the usual size.
func giveChunk(c []byte) {
	if cap(c) >= behindChunk {
		writeChunks.Put((*[behindChunk]byte)(c[:behindChunk]))
	}
}

// writer collects bytes into chunks that a goroutine uploads, so that the caller's work
// overlaps with the network. Close itself uploads a file that is smaller than a chunk. While
// the goroutine runs, it owns the upload. The spool of the upload keeps the chunks themselves
// until their block is complete.
//
//	Write ──> chunk ──chunks──> goroutine: upload.write ──> pipeline of DataNodes
//	            ▲                        │
//	        writeChunks <──reset──── spool of the block
type writer struct {
	upload upload
	cancel context.CancelFunc
	chunk  []byte      // chunk being filled
	chunks chan []byte // full chunks for the goroutine; nil until it runs
	done   chan struct{}
	err    error // error of the goroutine, valid after done
	state  writerState
}

// writerState is the state of a writer. States follow each other in this order, except that
// aborted may follow any state but closed.
type writerState int

const (
	open    writerState = iota
	failed              // after an error of Write or Close
	closed              // complete, after Close
	aborted             // removed, after Abort
)

// Create implements storage.FS. If the NameNode is not available, Create retries as every call
// does.
func (f *FS) Create(ctx context.Context, name string, opts storage.CreateOptions) (storage.Writer, error) {
	name = clean(name)
	if err := ctx.Err(); err != nil {
		return nil, f.explain("create", name, err)
	}
	w := &writer{}
	w.upload = upload{fs: f, target: name, path: name, replication: opts.Replication, blockSize: opts.BlockSize, private: opts.Private,
		spool: spool{memory: &f.spools, dir: f.cfg.SpoolDir}}
	w.upload.ctx, w.cancel = context.WithCancel(ctx)
	if err := f.begin(&w.upload, opts.NoParents); err != nil {
		w.cancel()
		return nil, err
	}
	return w, nil
}

// begin fills in the defaults and creates the file, which takes a lease: until the file is
// closed, no other client can write it. It refuses a directory whose policies the module cannot
// follow.
func (f *FS) begin(u *upload, noParents bool) error {
	u.replication = cmp.Or(u.replication, f.cfg.Replication, f.defaults.Replication)
	u.blockSize = cmp.Or(u.blockSize, f.cfg.BlockSize, f.defaults.BlockSize)
	if u.blockSize%512 != 0 || u.blockSize < 0 || u.replication < 0 {
		return fmt.Errorf("hdfs: create %s: block size %d, replication %d: the size must be a multiple of 512", f.URI()+u.target, u.blockSize, u.replication)
	}
	if !noParents { // the NameNode refuses a file without its parent
		if err := f.makeParent(u.ctx, u.target, u.private); err != nil {
			return err
		}
	}
	if err := u.create(); err != nil {
		return err
	}
	// The erasure-coding policy of a directory shows in a file that is created in it.
	status, err := f.status(u.ctx, "create", u.target)
	if err == nil {
		err = f.explain("create", u.target, refuse(status))
	}
	if err != nil {
		return errors.Join(err, u.abandon())
	}
	return nil
}

// makeParent creates the directory of a file. If the directory's name belongs to a file, the
// error names the file to be created, as the contract requires.
func (f *FS) makeParent(ctx context.Context, name string, private bool) error {
	mode := dirMode
	if private {
		mode = storage.PrivateDir
	}
	if err := f.mkdirAll(ctx, path.Dir(name), mode); err != nil {
		return fmt.Errorf("hdfs: create %s: %w", f.URI()+name, err)
	}
	return nil
}

// Write implements io.Writer. A later call, or Close, may return an error of the upload.
func (w *writer) Write(p []byte) (int, error) {
	if w.state != open {
		return 0, w.errNotOpen("write")
	}
	written := 0
	for len(p) > 0 {
		if w.chunk == nil {
			w.chunk = w.emptyChunk()
		}
		n := min(len(p), behindChunk-len(w.chunk))
		w.chunk = append(w.chunk, p[:n]...)
		p = p[n:]
		written += n
		if len(w.chunk) < behindChunk {
			break
		}
		if err := w.send(); err != nil {
			w.state = failed
			return written, err
		}
	}
	return written, nil
}

// emptyChunk returns an empty chunk. The first chunk grows on demand, for small files.
func (w *writer) emptyChunk() []byte {
	if w.chunks == nil {
		return []byte{}
	}
	return writeChunks.Get().(*[behindChunk]byte)[:0]
}

// send passes the chunk to the goroutine, which it starts if necessary. It blocks while
// behindDepth chunks wait. So a slow pipeline slows the task.
func (w *writer) send() error {
	if w.chunks == nil {
		w.chunks = make(chan []byte, behindDepth)
		w.done = make(chan struct{})
		go w.run()
	}
	select {
	case w.chunks <- w.chunk:
		w.chunk = nil
		return nil
	case <-w.done:
		return w.err
	}
}

// run uploads chunks until the channel is closed or an error occurs. After an error the
// sender notices that done is closed.
func (w *writer) run() {
	defer close(w.done)
	for c := range w.chunks {
		if w.err = w.upload.write(c); w.err != nil {
			return
		}
	}
}

// join waits until the goroutine, if it runs, has uploaded all chunks, and returns its error.
func (w *writer) join() error {
	if w.chunks == nil {
		return nil
	}
	close(w.chunks)
	<-w.done
	w.chunks = nil
	return w.err
}

// Close implements storage.Writer. After an error the caller calls Abort.
func (w *writer) Close() error {
	switch w.state {
	case closed:
		return nil
	case failed, aborted:
		return w.errNotOpen("close")
	}
	w.state = failed
	err := w.join()
	if err == nil {
		err = w.upload.write(w.chunk)
	}
	if err == nil {
		err = w.upload.finish()
	}
	if err != nil {
		return err
	}
	w.state = closed
	w.end()
	return nil
}

// Abort implements storage.Writer. It waits for the goroutine, whose retries it ends.
func (w *writer) Abort() error {
	if w.state == closed || w.state == aborted {
		return nil
	}
	w.state = aborted
	w.cancel() // no more retries
	w.join()
	w.end()
	return w.upload.abandon()
}

// end releases the resources of the writer.
func (w *writer) end() {
	w.cancel()
	w.chunk = nil
	w.upload.spool.close()
}

// errNotOpen returns the error of a call after Close, Abort or an error.
func (w *writer) errNotOpen(op string) error {
	return fmt.Errorf("hdfs: %s %s: %w", op, w.upload.fs.URI()+w.upload.target, fs.ErrClosed)
}
