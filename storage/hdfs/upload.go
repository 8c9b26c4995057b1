package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// upload writes one file. Without errors it writes directly to the file's path. If the pipeline
// of a block fails, upload writes that block again to other DataNodes, from the spool. If the
// NameNode fails, the client's lease may be lost, and HDFS does not allow appending to the open
// file before the lease expires. So upload then rewrites the file under another name in the
// same directory. It copies the complete blocks from the broken file, and the current block
// from the spool.
//
//	 committed blocks   current block
//	├────────┼────────┼─────
//	 read from broken   spool
//
//	create ──> write … ──> finish: complete, check the length, rename to the target
//	             │ error
//	             ├──> replaceBlock: the current block, copied ──> write …
//	             └──> again: a new file, both parts copied ──> write …
//
// An upload is used by one goroutine.
type upload struct {
	fs          *FS
	ctx         context.Context
	target      string // final path
	path        string // path being written; equal to target until the first error of the NameNode
	replication int
	blockSize   int64
	private     bool // CreateOptions.Private

	writer    blockWriter // nil while again has no file
	committed int64       // bytes in blocks that are complete according to the NameNode
	spool     spool

	tries        int       // number of errors since the last byte that was written
	firstFailure time.Time // time of the first of these errors
	attempts     int       // number of files created beside the target
}

// blockWriter writes the blocks of an open file. fileWriter does; its methods have the details.
type blockWriter interface {
	io.Writer
	addBlock() error
	abandonBlock() error
	complete() (bool, error)
	abort()
	release()
}

// create creates the file at path, and keeps the client for the writer. If a later try finds an
// empty file, an earlier try created it and its answer was lost. That file is removed first,
// because its lease belongs to the client that failed.
func (u *upload) create() error {
	return u.fs.do(u.ctx, u.fs.writes, "create", u.path, func(c *session, try int) error {
		w, err := c.CreateFile(u.path, u.replication, u.blockSize, u.mode())
		if errors.Is(err, fs.ErrExist) && try > 0 && isEmptyFile(c, u.path) {
			if err = c.Remove(u.path); err == nil {
				w, err = c.CreateFile(u.path, u.replication, u.blockSize, u.mode())
			}
		}
		if err != nil {
			return err
		}
		u.writer = u.newFileWriter(c, idOf(w))
		return nil
	})
}

// mode returns the mode of the file.
func (u *upload) mode() fs.FileMode {
	if u.private {
		return storage.PrivateFile
	}
	return 0o644
}

// isEmptyFile reports whether a path is a file without bytes, which was created and not
// written.
func isEmptyFile(c *session, name string) bool {
	info, err := c.Stat(name)
	return err == nil && !info.IsDir() && info.Size() == 0
}

// write writes all of a chunk, which it owns from then on, if necessary to another block or
// file. A call of the writer never spans two blocks, so that committed and the spool fit the
// writer's block after an error.
func (u *upload) write(chunk []byte) error {
	for p := chunk; len(p) > 0; {
		n, err := u.writeOnce(p)
		if err != nil {
			if err := u.recover(err); err != nil {
				return err
			}
			continue
		}
		u.tries = 0
		if n == int64(len(chunk)) {
			return u.spool.keep(chunk)
		}
		if err := u.spool.add(p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	giveChunk(chunk) // its block boundary has divided it; the spool has copies
	return nil
}

// writeOnce writes the part of p that fits into the current block, or into the next one if the
// current one is full. After an error nothing of p counts as written.
func (u *upload) writeOnce(p []byte) (int64, error) {
	if u.spool.size() == u.blockSize {
		if err := u.writer.addBlock(); err != nil {
			return 0, err
		}
		u.committed += u.blockSize
		u.spool.reset()
	}
	n := min(int64(len(p)), u.blockSize-u.spool.size())
	_, err := u.writer.Write(p[:n])
	return n, err
}

// recover writes the current block or the file again, until it succeeds or RetryTimeout has
// passed since the first error after the last byte that was written. So a file that takes long
// survives many failures, also in one block.
func (u *upload) recover(cause error) error {
	for {
		if u.tries == 0 {
			u.firstFailure = time.Now()
			u.fs.log.Warn("writing to HDFS failed, writing the block again", "path", u.fs.URI()+u.target,
				"offset", u.committed+u.spool.size(), "cause", cause)
		}
		if time.Since(u.firstFailure) > u.fs.cfg.RetryTimeout {
			return u.fs.explainWrite(u.target, cause)
		}
		if err := pause(u.ctx, u.tries); err != nil {
			return u.fs.explainWrite(u.target, err)
		}
		u.tries++
		err := u.repeat(cause)
		if err == nil {
			return nil
		}
		if errors.Is(err, errRefused) {
			return err
		}
		cause = err
	}
}

// repeat writes the current block again after an error of its pipeline, and the file after any
// other error.
func (u *upload) repeat(cause error) error {
	if _, ok := errors.AsType[*pipeline.Error](cause); ok && u.writer != nil {
		return u.replaceBlock()
	}
	return u.again()
}

// replaceBlock abandons the current block and writes its bytes to another one.
func (u *upload) replaceBlock() error {
	if err := u.writer.abandonBlock(); err != nil {
		return err
	}
	return u.spool.copyTo(u.writer)
}

// again writes the file once under another name. The broken file is removed when the new
// file is complete. The target stays until finish, to reserve the name. If again fails, path
// is the broken file again, from which the next try copies.
func (u *upload) again() error {
	u.closeSession()
	broken := u.path
	u.attempts++
	u.path = path.Join(path.Dir(u.target), fmt.Sprintf(".%s.~%d", path.Base(u.target), u.attempts))
	err := u.create()
	if err == nil {
		if err = u.copyCommitted(broken); err == nil {
			err = u.spool.copyTo(u.writer)
		}
		if err != nil {
			u.closeSession()
			u.remove(u.path)
		}
	}
	if err != nil {
		u.path = broken
		return err
	}
	if broken != u.target {
		u.remove(broken)
	}
	return nil
}

// copyCommitted copies the complete blocks of the broken file. The NameNode knows their
// lengths, although the file is still open.
func (u *upload) copyCommitted(broken string) error {
	if u.committed == 0 {
		return nil
	}
	st, err := u.fs.openStream(u.ctx, broken)
	if err != nil {
		return err
	}
	defer st.drop()
	_, err = io.CopyBuffer(u.writer, io.LimitReader(st, u.committed), make([]byte, behindChunk))
	if err == nil && st.offset != u.committed {
		err = fmt.Errorf("hdfs: %s%s has lost blocks: %w", u.fs.URI(), broken, io.ErrUnexpectedEOF)
	}
	return err
}

// closeSession ends the writer. It also retires the client, so that the leases expire: a client
// renews the leases of all its files together.
func (u *upload) closeSession() {
	if u.writer != nil {
		u.writer.abort()
		u.writer = nil
	}
}

// remove removes a file of this upload, even if the upload's context has ended. A file that
// cannot be removed stays: it is hidden, and no other process uses its name.
func (u *upload) remove(name string) {
	if err := u.fs.Remove(context.WithoutCancel(u.ctx), name, false); err != nil {
		u.fs.log.Warn("cannot remove an incomplete file from HDFS", "path", u.fs.URI()+name, "cause", err)
	}
}

// explainWrite does what explain does, for errors of a pipeline. Such errors do not concern
// the NameNode, so the remedy differs.
func (f *FS) explainWrite(name string, err error) error {
	if judge(err) == reconnect {
		return mark(fmt.Errorf("hdfs: write %s: every pipeline of DataNodes failed (are enough of them running, and do they have free disk space?): %w",
			f.URI()+name, err), err)
	}
	return f.explain("write", name, err)
}

// finish completes the file and moves it to its final name. Errors before the rename are
// handled as in write: the file is written again. The rename is the last step, so a
// rewritten file appears under the target's name only when it is complete.
func (u *upload) finish() error {
	for {
		err := u.complete()
		if err == nil {
			break
		}
		if err := u.recover(err); err != nil {
			return err
		}
	}
	u.writer.release()
	u.writer = nil
	if u.path == u.target {
		return nil
	}
	u.remove(u.target) // the broken file that reserved the name
	if err := u.fs.Rename(u.ctx, u.path, u.target); err != nil {
		return err
	}
	u.path = u.target
	return nil
}

// complete completes the file. The NameNode refuses until a DataNode has reported the last
// block, which usually takes a moment. Then complete checks that the file has the length that
// was written.
func (u *upload) complete() error {
	began := time.Now()
	done, err := u.writer.complete()
	for try := 0; !done && err == nil; try++ {
		if time.Since(began) > u.fs.cfg.CloseTimeout {
			return fmt.Errorf("no DataNode has reported the last block for %v", u.fs.cfg.CloseTimeout)
		}
		if err := pauseFrom(u.ctx, time.Millisecond, try); err != nil {
			return err
		}
		done, err = u.writer.complete()
	}
	if err != nil {
		return err
	}
	status, err := u.fs.status(u.ctx, "close", u.path)
	if err != nil {
		return err
	}
	if want := u.committed + u.spool.size(); int64(status.GetLength()) != want {
		return fmt.Errorf("%d bytes written, the NameNode has %d", want, status.GetLength())
	}
	return nil
}

// abandon removes the file being written, and the file that reserves the target's name. It
// does so even if the context is done.
func (u *upload) abandon() error {
	u.ctx = context.WithoutCancel(u.ctx)
	u.closeSession()
	if u.path != u.target {
		u.remove(u.path)
	}
	return u.fs.Remove(u.ctx, u.target, false)
}
