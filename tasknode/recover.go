package tasknode

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// recoverTimeout is how long the first session waits for the local directories to be read.
// What a slower directory contains counts as lost: the machine joins without it.
const recoverTimeout = 30 * time.Second

// leftover is what a local directory has of one job of an earlier start.
type leftover struct {
	job      string
	dir      string
	logDir   string   // directory for the logs of the job, "" if unknown
	retained []string // directories of attempts with complete files, as their records say
	orphans  []string // paths of everything else, except for shards and logs
}

// recoverRetained looks through the local directories for files of an earlier start. It
// retains the files of finished attempts and removes the rest. The jobmaster says later
// which jobs have ended in the meantime.
//
// So a restart of the daemon loses the running attempts, but not the outputs of finished
// attempts: the jobmaster counts these outputs again when the tasknode joins.
//
//	DIR/job_1_0001/m_000000/attempt_1_0001_m_000000_0/        files
//	DIR/job_1_0001/m_000000/attempt_1_0001_m_000000_0.retained    record: the files are complete
//	DIR/job_1_0001/m_000000/attempt_1_0001_m_000001_0/        no record: removed
//	DIR/job_1_0001/logs/                                      kept until the job is removed
//	DIR/job_1_0001/logdir                                     where the logs are copied then
//
// The channel is closed when all directories have been read.
func (d *Daemon) recoverRetained() (done <-chan struct{}) {
	ready := make(chan struct{})
	unread := len(d.cfg.Dirs)
	for _, dir := range d.cfg.Dirs {
		d.disks[dir].reads.Put(func() {
			found := d.scanDir(dir)
			d.inbox.Put(func() {
				for _, job := range found {
					d.recovered(job)
				}
				if unread--; unread == 0 {
					close(ready)
				}
			})
		})
	}
	return ready
}

// scanDir lists the jobs in a local directory.
func (d *Daemon) scanDir(dir string) (found []leftover) {
	for _, e := range d.list(dir) {
		if e.IsDir() && strings.HasPrefix(e.Name(), "job_") {
			found = append(found, d.scanJob(e.Name(), filepath.Join(dir, e.Name())))
		}
	}
	return found
}

// list lists a directory. A missing directory is empty.
func (d *Daemon) list(dir string) []fs.DirEntry {
	entries, err := d.files.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.cfg.Logger.Warn("cannot read local directory", "directory", dir, "error", err)
	}
	return entries
}

// scanJob reads the records in the shards of one job.
func (d *Daemon) scanJob(id, dir string) leftover {
	found := leftover{job: id, dir: dir}
	for _, e := range d.list(dir) {
		switch path := filepath.Join(dir, e.Name()); {
		case e.Name() == logDirName:
			found.logDir = d.logDirOf(dir)
		case e.Name() == taskdir.Logs:
		case e.IsDir() && taskdir.IsShard(e.Name()):
			for _, other := range d.scanAttempts(&found, path) {
				found.orphans = append(found.orphans, filepath.Join(path, other.Name()))
			}
		default:
			found.orphans = append(found.orphans, path)
		}
	}
	return found
}

// scanAttempts adds the attempts in a shard that have a record and complete files to what
// was found of a job. It returns the other entries. An attempt in the shard of another is not
// retained, because readers do not look for it there.
func (d *Daemon) scanAttempts(found *leftover, dir string) (others []fs.DirEntry) {
	entries := d.list(dir)
	retained := make(map[string]bool) // names of entries
	for _, e := range entries {
		attempt, is := strings.CutSuffix(e.Name(), recordSuffix)
		path := filepath.Join(dir, attempt)
		if is && taskdir.JobDir(path) == found.dir && d.isComplete(path) {
			found.retained = append(found.retained, path)
			retained[attempt], retained[e.Name()] = true, true
		}
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return retained[e.Name()] })
}

// logDirOf returns the directory for logs of a job with a local directory, "" if it is unknown.
func (d *Daemon) logDirOf(dir string) string {
	name, err := d.files.ReadLogDir(dir)
	if err != nil {
		d.cfg.Logger.Warn("cannot read the log directory of a job", "directory", dir, "error", err)
	}
	return name
}

// isComplete reports whether the files of a finished attempt are as its record says.
func (d *Daemon) isComplete(dir string) bool {
	last, err := d.files.ReadRecord(dir + recordSuffix)
	if err == nil {
		err = d.files.CheckRecord(dir, last)
	}
	if err != nil {
		d.cfg.Logger.Warn("retained files unusable", "attempt", filepath.Base(dir), "error", err)
	}
	return err == nil
}

// recovered retains what is left of a job, and removes the orphans in the background. If the
// directory was slow, attempts may already run in it; their files are no orphans.
func (d *Daemon) recovered(found leftover) {
	j := d.job(found.job)
	if j.removed {
		return // all of it is removed
	}
	j.logDir = cmp.Or(j.logDir, found.logDir)
	var orphans []string
	for _, path := range found.orphans {
		if id, _, _ := strings.Cut(filepath.Base(path), "."); d.known[id] == "" {
			orphans = append(orphans, path)
		}
	}
	for _, dir := range found.retained {
		id := filepath.Base(dir)
		if _, ordered := d.known[id]; ordered {
			continue
		}
		d.addKnown(found.job, id)
		d.retained[id] = dir + recordSuffix
		d.cfg.Logger.Debug("retained files recovered", "attempt", id)
	}
	d.cfg.Logger.Info("local files of a job read", "job", found.job, "directory", found.dir, "retained", len(found.retained), "removed", len(orphans))
	j.busy++
	d.remove(d.disks[filepath.Dir(found.dir)], orphans, func() {
		d.inbox.Put(func() { d.releaseJob(found.job) })
	})
}

// resendReport sends the final report of a retained attempt again.
//
// The jobmaster requests it when a lost machine joins again. The output then counts again,
// if its task has not finished elsewhere.
func (d *Daemon) resendReport(attempt string) {
	d.readRecord(attempt, func(last *wire.Report, err error) {
		if err != nil {
			d.cfg.Logger.Warn("cannot read the record of an attempt", "attempt", attempt, "error", err)
			return
		}
		d.sendRecord(last)
	})
}

// sendRecord sends the final report that is the record of a retained attempt.
func (d *Daemon) sendRecord(last *wire.Report) {
	last = proto.CloneOf(last)
	last.Machine = d.cfg.Name
	d.send(last)
}

// readRecord reads the record of a retained attempt in the background, and then calls use in
// the loop. It does nothing if the attempt is not retained. Calls that arrive during a read
// share its result, because a master repeats its orders while a disk hangs.
func (d *Daemon) readRecord(attempt string, use func(*wire.Report, error)) {
	path, retained := d.retained[attempt]
	if !retained {
		return
	}
	d.reading[attempt] = append(d.reading[attempt], use)
	if len(d.reading[attempt]) > 1 {
		return
	}
	job := d.known[attempt]
	d.job(job).busy++
	d.diskOf(path).reads.Put(func() {
		last, err := d.files.ReadRecord(path)
		d.inbox.Put(func() {
			users := d.reading[attempt]
			delete(d.reading, attempt)
			for _, use := range users {
				use(last, err)
			}
			d.releaseJob(job)
		})
	})
}
