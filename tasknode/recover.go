package tasknode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// logsDir is the directory for the logs of a job's attempts, inside the directory of the
// job.
const logsDir = "logs"

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
func (d *Daemon) recoverRetained() {
	for _, dir := range d.cfg.Dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.cfg.Logger.Warn("cannot read local directory", "directory", dir, "error", err)
		}
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), "job_") {
				d.recoverJob(e.Name(), filepath.Join(dir, e.Name()))
			}
		}
	}
}

// recoverJob looks through the directory of one job. Files without a valid record may be
// large, so they are removed in the background.
func (d *Daemon) recoverJob(id, dir string) {
	d.job(id)
	entries, err := os.ReadDir(dir)
	if err != nil {
		d.cfg.Logger.Warn("cannot read local directory", "directory", dir, "error", err)
	}
	retained := make(map[string]bool)
	for _, e := range entries {
		if attempt, is := strings.CutSuffix(e.Name(), recordSuffix); is && d.recoverAttempt(id, filepath.Join(dir, attempt)) {
			retained[attempt], retained[e.Name()] = true, true
		}
	}
	var orphans []string
	for _, e := range entries {
		if !retained[e.Name()] && e.Name() != logsDir {
			orphans = append(orphans, filepath.Join(dir, e.Name()))
		}
	}
	d.workers.Go(func() { d.removeFiles(orphans) })
}

// recoverAttempt retains the files of a finished attempt. It returns false if they are not
// complete.
func (d *Daemon) recoverAttempt(job, dir string) bool {
	last, err := readRecord(dir + recordSuffix)
	if err == nil {
		err = checkRecord(dir, last)
	}
	if err != nil {
		d.cfg.Logger.Warn("retained files unusable", "attempt", filepath.Base(dir), "error", err)
		return false
	}
	d.known[last.AttemptId] = job
	d.retained[last.AttemptId] = dir + recordSuffix
	d.cfg.Logger.Info("retained files recovered", "attempt", last.AttemptId)
	return true
}

// resendReport sends the final report of a retained attempt again.
//
// The jobmaster requests it when a lost machine joins again. The output then counts again,
// if its task has not finished elsewhere.
func (d *Daemon) resendReport(attempt string) {
	path, retained := d.retained[attempt]
	if !retained {
		return
	}
	last, err := readRecord(path)
	if err != nil {
		d.cfg.Logger.Warn("cannot read the record of an attempt", "attempt", attempt, "error", err)
		return
	}
	last.Machine = d.cfg.Name
	d.send(last)
}
