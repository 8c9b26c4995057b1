package tasknode

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/wire"
)

// logsDir is the directory for the logs of a job's attempts, inside the directory of the
// job.
const logsDir = "logs"

// recoverTimeout is how long the first session waits for the local directories to be read.
// What a slower directory contains counts as lost: the machine joins without it.
const recoverTimeout = 30 * time.Second

// leftover is what a local directory has of one job of an earlier start.
type leftover struct {
	job      string
	dir      string
	logDir   string   // directory for the logs of the job, "" if unknown
	retained []string // attempts with complete files, as their records say
	orphans  []string // names of everything else, except for logs
}

// recoverRetained looks through the local directories for files of an earlier start. It
// retains the files of finished attempts and removes the rest. The jobmaster says later
// which jobs have ended in the meantime.
//
// So a restart of the daemon loses the running attempts, but not the outputs of finished
// attempts: the jobmaster counts these outputs again when the tasknode joins.
//
//	DIR/job_1_0001/attempt_1_0001_m_000000_0/        files
//	DIR/job_1_0001/attempt_1_0001_m_000000_0.held    record: the files are complete
//	DIR/job_1_0001/attempt_1_0001_m_000001_0/        no record: removed
//	DIR/job_1_0001/logs/                             kept until the job is removed
//	DIR/job_1_0001/logdir                            where the logs are copied then
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

// scanJob reads the records in the directory of one job.
func (d *Daemon) scanJob(id, dir string) leftover {
	found := leftover{job: id, dir: dir}
	entries := d.list(dir)
	retained := make(map[string]bool)
	for _, e := range entries {
		if attempt, is := strings.CutSuffix(e.Name(), recordSuffix); is && d.isComplete(filepath.Join(dir, attempt)) {
			found.retained = append(found.retained, attempt)
			retained[attempt], retained[e.Name()] = true, true
		}
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == logDirName:
			found.logDir = d.logDirOf(dir)
		case !retained[name] && name != logsDir:
			found.orphans = append(found.orphans, e.Name())
		}
	}
	return found
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
	for _, id := range found.retained {
		if _, ordered := d.known[id]; ordered {
			continue
		}
		d.known[id], d.retained[id] = found.job, filepath.Join(found.dir, id)+recordSuffix
		d.cfg.Logger.Info("retained files recovered", "attempt", id)
	}
	var orphans []string
	for _, name := range found.orphans {
		if id, _, _ := strings.Cut(name, "."); d.known[id] == "" {
			orphans = append(orphans, filepath.Join(found.dir, name))
		}
	}
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
		last = proto.CloneOf(last)
		last.Machine = d.cfg.Name
		d.send(last)
	})
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
