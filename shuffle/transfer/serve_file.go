package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// open opens a regular file of an attempt from the local directory that has it. A broken
// directory does not hide files in the others; its error is returned only if no directory has
// the file. file is the name of the file in the attempt's directory.
func (s *Server) open(q request, file string) (*os.File, int64, error) {
	first := failpoint.Disk(context.Background(), "open", path.Join(q.job, q.attempt, file))
	if first != nil {
		return nil, 0, first
	}
	for _, dir := range s.cfg.Dirs {
		opened, size, err := openIn(dir, q.job, q.attempt, file)
		switch {
		case err == nil || errors.As(err, new(*refusal)):
			return opened, size, err
		case !errors.Is(err, fs.ErrNotExist) && first == nil:
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("%s/%s/%s: %w", q.job, q.attempt, file, fs.ErrNotExist)
	}
	return nil, 0, first
}

// openIn opens a file of an attempt below the directory of its job, at any of the attempt's
// places. No path leaves the job's directory, not even through symbolic links: a task may have
// made them, to files of other jobs.
func openIn(dir, job, attempt, file string) (opened *os.File, size int64, err error) {
	all, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer all.Close() // files opened below it stay open
	if info, err := all.Lstat(job); err != nil {
		return nil, 0, err
	} else if !info.IsDir() {
		return nil, 0, fmt.Errorf("%s: not a directory of a job: %w", job, fs.ErrNotExist)
	}
	root, err := all.OpenRoot(job)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	return openRegular(root, path.Join(taskdir.InJob(attempt), file))
}

// openRegular opens a file if it is a regular one. O_NONBLOCK opens a FIFO without waiting for
// its writer. The open file itself is checked, since a task may replace a name at any time.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refuse(http.StatusForbidden, "%s: not a regular file", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// send answers with a file or with one run of it. http.ServeContent handles ranges of
// either.
func (s *Server) send(w *response, r *http.Request, q request) error {
	file, size, err := s.open(q, q.file)
	if err != nil {
		return err
	}
	defer file.Close()
	part := &section{file: file, size: size}
	if q.run {
		run, err := s.findRun(q)
		if err != nil {
			return err
		}
		if run.Offset > size || run.Length > size-run.Offset {
			return fmt.Errorf("%w: %s has %d bytes, its index has a run of %d at offset %d", storage.ErrCorrupt, q.name(), size, run.Length, run.Offset)
		}
		part.base, part.size = run.Offset, run.Length
		w.Header().Set(HeaderRun, formatRun(run))
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, part)
	return nil
}

// findRun looks up a run in the index, which is read once.
func (s *Server) findRun(q request) (shuffle.Run, error) {
	x, err := s.indexes.get(q.name(), func() (*shuffle.Index, error) { return s.readIndex(q) })
	if err != nil {
		return shuffle.Run{}, err
	}
	return runOf(x, q)
}

// runOf returns the run that a request names. It refuses a run that is not in the index.
func runOf(x *shuffle.Index, q request) (shuffle.Run, error) {
	if q.partition >= len(x.Partitions) || q.number >= len(x.Partitions[q.partition]) {
		return shuffle.Run{}, refuse(http.StatusNotFound, "%s: no run %d of partition %d", q.name(), q.number, q.partition)
	}
	return x.Partitions[q.partition][q.number], nil
}

// readIndex reads and verifies the index of the data file that is requested.
func (s *Server) readIndex(q request) (*shuffle.Index, error) {
	name := shuffle.IndexPath(q.file)
	file, _, err := s.open(q, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	x, err := shuffle.LoadIndex(file)
	if err != nil {
		return nil, fmt.Errorf("index %s/%s/%s: %w", q.job, q.attempt, name, err)
	}
	return x, nil
}

// verdict is the report of a source on its disk.
type verdict struct {
	Good          bool   `json:"good"`
	Problem       string `json:"fault,omitempty"`      // description of the damage, unless Good
	IndexChecksum uint64 `json:"indexChecksum,string"` // checksum of the index as just read
}

// checksum returns the value of HeaderChecksum for a body: its xxhash64.
func checksum(body []byte) string { return fmt.Sprintf("%016x", xxhash.Sum64(body)) }

// verify reads the index from the disk, and the run if the request names one. It reports
// whether they match their checksums. If they do not, it removes the index from the cache.
func (s *Server) verify(w *response, r *http.Request, q request) error {
	s.counts.verified.Add(1)
	_ = w.control.SetWriteDeadline(time.Time{}) // reading may take long
	v, err := s.verifyDisk(r.Context(), q)
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*refusal)) || r.Context().Err() != nil {
		return err
	}
	v.Good = err == nil
	if err != nil {
		v.Problem = err.Error()
		s.counts.corrupt.Add(1)
		s.indexes.remove(q.name())
		s.cfg.Logger.Error("segment corrupt on disk", "file", q.name(), "partition", q.partition, "run", q.number, "error", err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(HeaderChecksum, checksum(b))
	_, _ = w.Write(b) // an error means that the client is gone
	return nil
}

// verifyDisk reads the index, and the run that q names, and compares them with their
// checksums. The error describes the damage; the verdict has the checksum of the index.
func (s *Server) verifyDisk(ctx context.Context, q request) (verdict, error) {
	var v verdict
	x, err := s.readIndex(q)
	if err != nil {
		return v, err
	}
	v.IndexChecksum = x.Checksum
	if !q.run {
		return v, nil
	}
	run, err := runOf(x, q)
	if err != nil {
		return v, err
	}
	file, _, err := s.open(q, q.file)
	if err != nil {
		return v, err
	}
	defer file.Close()
	if err := shuffle.VerifyRun(ctx, io.NewSectionReader(file, run.Offset, run.Length), run); err != nil {
		return v, fmt.Errorf("%s, run at offset %d: %w", q.name(), run.Offset, err)
	}
	return v, nil
}
