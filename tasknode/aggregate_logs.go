package tasknode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/logs/joblog"
	"github.com/hammr/hammr/storage"
)

// JobLogs are the logs that the attempts of a job have left on a machine.
type JobLogs struct {
	// Job is the id of the job.
	Job string
	// Dir is the full name of the directory for the logs of the job.
	Dir string
	// Local are local directories with the logs of attempts; taskdir describes their layout.
	Local []string
}

// LogAggregator copies the logs of a job to a file system that outlives the machine.
type LogAggregator struct {
	// Machine is the name of the machine.
	Machine string
	// Check returns why logs may not be written to a directory, nil if they may. A job chooses
	// the directory, and the daemon may have more rights than the job's user. The default
	// accepts every directory.
	Check func(ctx context.Context, dir string) error
	// Resolve returns the file system and the path of a full name.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
}

// Aggregate copies all logs of a job to one file in its directory. If no attempt has printed
// anything, it writes no file. If the file exists, an earlier call has written it, and it stays
// as it is.
//
// It copies as many logs as it can read and reports all errors together. If storage.Unavailable
// is true for the error, no file was written and a later call may succeed.
func (k *LogAggregator) Aggregate(ctx context.Context, logs JobLogs) error {
	if k.Check != nil {
		if err := k.Check(ctx, logs.Dir); err != nil {
			return err
		}
	}
	fsys, dir, err := k.Resolve(ctx, logs.Dir)
	if err != nil {
		return err
	}
	name := joblog.FileName(k.Machine)
	// Readers ignore names that begin with a dot. If the daemon ends before it renames the
	// file, the file is removed with the directory.
	c := &logCopy{fsys: fsys, path: dir + "/." + name + "." + rand.Text()}
	for _, local := range logs.Local {
		c.addDir(ctx, local)
	}
	if c.file == nil || c.failed != nil {
		return errors.Join(c.failed, errors.Join(c.unread...))
	}
	if err := storage.Finish(c.file, c.logs.Close()); err != nil {
		return err
	}
	return errors.Join(publish(ctx, fsys, c.path, dir+"/"+name), errors.Join(c.unread...))
}

// publish gives a complete file its name, unless that exists.
func publish(ctx context.Context, fsys storage.FS, from, to string) error {
	err := fsys.Rename(ctx, from, to)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, fsys.Remove(ctx, from, false))
}

// logCopy is one file of logs that is being written.
type logCopy struct {
	fsys   storage.FS
	path   string
	file   storage.Writer // nil before the first log
	logs   *joblog.Writer // of file
	failed error          // why the file cannot be written; the copy has ended
	unread []error        // errors of local logs, at most maxUnread
}

// maxUnread limits the errors of local logs that are reported.
const maxUnread = 10

// addDir adds the logs of all attempts in a local directory, and in its shards. It reads the
// names in parts, because a job may have a hundred thousand attempts.
func (c *logCopy) addDir(ctx context.Context, local string) {
	dir, err := os.Open(local)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.skip(err)
		return
	}
	defer dir.Close() // only read
	for c.failed == nil {
		attempts, err := dir.ReadDir(1000)
		for _, a := range attempts {
			if path := filepath.Join(local, a.Name()); taskdir.IsShard(a.Name()) {
				c.addDir(ctx, path)
			} else {
				c.addAttempt(ctx, path, a.Name())
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			c.skip(err)
			return
		}
	}
}

// addAttempt adds the logs of one attempt.
func (c *logCopy) addAttempt(ctx context.Context, dir, attempt string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		c.skip(err)
	}
	for _, f := range files {
		if c.failed == nil {
			c.add(ctx, filepath.Join(dir, f.Name()), attempt, f.Name())
		}
	}
}

// add adds one log, unless it is empty. The first log makes the file: most jobs print nothing,
// and each file costs the file system a request.
func (c *logCopy) add(ctx context.Context, path, attempt, stream string) {
	in, err := OpenRegular(path, math.MaxInt64)
	if err != nil {
		c.skip(err)
		return
	}
	defer in.Close() // only read
	info, err := in.Stat()
	if err != nil || info.Size() == 0 {
		c.skip(err)
		return
	}
	if c.file == nil {
		if c.file, c.failed = c.fsys.Create(ctx, c.path, storage.CreateOptions{Private: true}); c.failed != nil {
			return
		}
		c.logs = joblog.NewWriter(c.file)
	}
	log := &localLog{Reader: io.LimitReader(in, info.Size())}
	err = errors.Join(ctx.Err(), c.logs.Add(attempt, stream, log))
	c.skip(log.err)
	if errors.Is(err, joblog.ErrFull) {
		c.skip(fmt.Errorf("%s: %w", path, err))
	} else if err != nil {
		c.failed = errors.Join(err, c.file.Abort())
	}
}

// skip notes why a log, or a part of it, is left out. It does nothing if err is nil.
func (c *logCopy) skip(err error) {
	if err != nil && len(c.unread) < maxUnread {
		c.unread = append(c.unread, err)
	}
}

// localLog is a log on a local disk. If it cannot be read to its end, the rest is left out:
// the logs of other attempts may still be copied.
type localLog struct {
	io.Reader
	err error
}

// Read implements io.Reader. It has no other error than io.EOF.
func (l *localLog) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if err != nil && err != io.EOF {
		l.err, err = err, io.EOF
	}
	return n, err
}

const (
	// aggregateTimeout limits how long the logs of a job wait for the file system.
	aggregateTimeout = 10 * time.Minute
	// maxAggregations is the number of jobs whose logs are copied at the same time.
	maxAggregations = 4
)

// aggregateLogs aggregates the logs of a job that is over, and then removes one activity from
// the count of the job. Failure costs a warning. If the daemon ends meanwhile, the logs stay
// on the local disks until the next start.
func (d *Daemon) aggregateLogs(logs JobLogs) {
	d.workers.Go(func() {
		ctx, cancel := context.WithTimeout(d.running, aggregateTimeout)
		defer cancel()
		err := d.retryAggregation(ctx, logs)
		if d.running.Err() != nil {
			return
		}
		if err != nil {
			d.cfg.Logger.Warn("log aggregation failed", "job", logs.Job, "directory", logs.Dir, "error", err)
		}
		d.inbox.Put(func() { d.releaseJob(logs.Job) })
	})
}

// retryAggregation repeats the aggregation while the file system is not available.
func (d *Daemon) retryAggregation(ctx context.Context, logs JobLogs) error {
	select {
	case d.aggregations <- struct{}{}:
		defer func() { <-d.aggregations }()
	case <-ctx.Done():
		return fmt.Errorf("other jobs are copied for too long: %w", ctx.Err())
	}
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		err := d.cfg.AggregateLogs(ctx, logs)
		if !storage.Unavailable(err) || syncutil.Sleep(ctx, pause) != nil {
			return err
		}
	}
}
