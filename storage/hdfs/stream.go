package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/hammr/hammr/storage"
)

// carefulBytes is the number of bytes that are read in small steps after an error: the
// packet of 64 KiB that may contain the error, and the rest of the previous packet.
const carefulBytes = 128 << 10

// carefulStep is less than the 512 bytes that a checksum covers. For such a read the module
// verifies the checksum before it returns data. For a larger read it returns data even if
// the checksum is wrong or the connection breaks.
const carefulStep = 256

// fileID identifies the file that was opened.
type fileID struct {
	path string
	size int64  // when it was opened
	id   uint64 // assigned by the NameNode, so that a replacement of the file is detected
}

// stream reads a file from an offset on and recovers from errors: it opens the file again
// and continues at its offset. It is used by one goroutine.
//
//	readOnce ──ok──> bytes
//	   │ error
//	recover: close, wait, and read the next carefulBytes in small steps
//	   │          └── a wrong checksum again: storage.ErrCorrupt
//	   │          └── RetryTimeout over: error
//	readOnce with another DataNode, at the same offset
//
// The module remembers which DataNodes have failed and prefers other DataNodes, so the next
// reader gets another replica.
type stream struct {
	fs  *FS
	ctx context.Context
	fileID

	offset  int64 // offset of the next byte to return
	careful int64 // offset up to which reads are small
	session *session
	reader  *hdfs.FileReader // nil until opened, and after an error

	tries        int       // number of errors since the last byte
	firstFailure time.Time // time of the first of these errors
}

// openStream opens a file for the first time and records its identity.
func (f *FS) openStream(ctx context.Context, path string) (*stream, error) {
	st := &stream{fs: f, ctx: ctx, fileID: fileID{path: path, size: -1}}
	if err := st.connect(); err != nil {
		return nil, err
	}
	return st, nil
}

// connect creates a reader at the offset and keeps its client. It first lets the module forget
// old failures of DataNodes, so that a local replica is used again.
func (st *stream) connect() error {
	forgetFailures(st.fs.cfg.PenaltyTimeout)
	return st.fs.do(st.ctx, st.fs.reads, "open", st.path, func(c *session, _ int) error {
		r, err := c.Open(st.path)
		if err != nil {
			return err
		}
		if err := st.identify(r.Stat().Sys().(*hdfs.FileStatus)); err != nil {
			return err
		}
		if _, err := r.Seek(st.offset, io.SeekStart); err != nil {
			return fmt.Errorf("%w: the file was cut short while it was read", errRefused)
		}
		st.reader, st.session = r, c.addUser()
		return nil
	})
}

// identify records the number and size of the file at the first call. Later it refuses
// another file of the same name, because its bytes would not fit the bytes read so far.
func (st *stream) identify(status *hdfs.FileStatus) error {
	if isDir(status) {
		return fmt.Errorf("%w: it is a directory", errRefused)
	}
	if err := refuse(status); err != nil {
		return err
	}
	if st.size < 0 {
		st.size, st.id = int64(status.GetLength()), status.GetFileId()
	}
	if st.id != status.GetFileId() {
		return fmt.Errorf("%w: another file took its place while it was read", errRefused)
	}
	return nil
}

// Read implements io.Reader. It returns io.EOF at the size that the file had when it was
// opened. An error means that all retries are over.
func (st *stream) Read(p []byte) (int, error) {
	if st.offset >= st.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if rest := st.size - st.offset; int64(len(p)) > rest {
		p = p[:rest]
	}
	for {
		n, err := st.readOnce(p)
		if err == nil {
			st.offset += int64(n)
			st.tries = 0
			return n, nil
		}
		if err := st.recover(err); err != nil {
			return 0, err
		}
	}
}

// readOnce returns at least one verified byte, or an error. An end of the stream before the
// size of the file is an error, since the file cannot have become shorter.
func (st *stream) readOnce(p []byte) (int, error) {
	if st.reader == nil {
		if err := st.connect(); err != nil {
			return 0, err
		}
	}
	if st.offset < st.careful && len(p) > carefulStep {
		p = p[:carefulStep]
	}
	n, err := st.reader.Read(p)
	switch {
	case n > 0 && unchecked(st.reader):
		return 0, errors.New("a DataNode failed, or sent bytes that do not match their checksum")
	case n > 0:
		return n, nil
	case err == nil:
		return 0, io.ErrNoProgress
	case err == io.EOF:
		return 0, io.ErrUnexpectedEOF
	}
	return 0, err
}

// recover prepares another try, or returns the final error. A wrong checksum is final if a
// careful read finds it on all replicas.
func (st *stream) recover(err error) error {
	careful := st.offset < st.careful
	st.drop()
	st.careful = st.offset + carefulBytes
	if st.tries == 0 {
		st.firstFailure = time.Now()
		st.fs.log.Warn("reading from HDFS failed, trying again", "path", st.fs.URI()+st.path, "offset", st.offset, "cause", err)
	}
	st.tries++
	switch {
	case careful && st.tries > 1 && strings.Contains(err.Error(), "invalid checksum"):
		return fmt.Errorf("hdfs: read %s at byte %d: no replica matches its checksum: %w", st.name(), st.offset, storage.ErrCorrupt)
	case isFinalRead(err):
		return err
	case time.Since(st.firstFailure) > st.fs.cfg.RetryTimeout:
		return mark(fmt.Errorf("hdfs: read %s at byte %d: no DataNode serves the block (are they running?): %w", st.name(), st.offset, err), err)
	case st.tries == 1:
		return nil
	}
	return pause(st.ctx, st.tries)
}

// isFinalRead distinguishes an error of connect, which has already retried, from an error of
// a DataNode. An error of connect is explained, so it begins with the name of this package.
func isFinalRead(err error) bool {
	return strings.HasPrefix(err.Error(), "hdfs: ")
}

// name returns the full name of the file, for errors.
func (st *stream) name() string { return st.fs.URI() + st.path }

// seek moves to an offset within the file. It skips a short distance by reading, as the module
// does, since a new connection to a DataNode costs more.
func (st *stream) seek(offset int64) {
	if offset == st.offset {
		return
	}
	st.offset = offset
	if st.reader == nil {
		return
	}
	if _, err := st.reader.Seek(offset, io.SeekStart); err != nil {
		st.drop()
	}
}

// drop releases the reader and its client. The next read connects again.
func (st *stream) drop() {
	if st.reader != nil {
		st.reader.Close()
		st.session.release()
		st.reader, st.session = nil, nil
	}
}
