package tasknode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// logsDir is the directory, in that of a job, for the logs of its attempts.
const logsDir = "logs"

// recoverRetained looks through the local directories for files of an earlier start. It
// retains those of finished attempts and removes the rest. The jobmaster says later
// which jobs have ended in the meantime.
func (n *Daemon) recoverRetained() {
	for _, dir := range n.cfg.Dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			n.cfg.Logger.Warn("cannot read local directory", "directory", dir, "error", err)
		}
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), "job_") {
				n.recoverJob(e.Name(), filepath.Join(dir, e.Name()))
			}
		}
	}
}

// recoverJob looks through the directory of one job.
func (n *Daemon) recoverJob(id, dir string) {
	n.job(id)
	entries, err := os.ReadDir(dir)
	if err != nil {
		n.cfg.Logger.Warn("cannot read local directory", "directory", dir, "error", err)
	}
	held := make(map[string]bool)
	for _, e := range entries {
		if attempt, is := strings.CutSuffix(e.Name(), recordSuffix); is && n.recoverAttempt(id, filepath.Join(dir, attempt)) {
			held[attempt], held[e.Name()] = true, true
		}
	}
	var orphans []string
	for _, e := range entries {
		if !held[e.Name()] && e.Name() != logsDir {
			orphans = append(orphans, filepath.Join(dir, e.Name()))
		}
	}
	n.workers.Go(func() { n.removeFiles(orphans) })
}

// recoverAttempt retains the files of a finished attempt, and reports whether they are
// complete.
func (n *Daemon) recoverAttempt(job, dir string) bool {
	last, err := readRecord(dir + recordSuffix)
	if err == nil {
		err = checkRecord(dir, last)
	}
	if err != nil {
		n.cfg.Logger.Warn("retained files unusable", "attempt", filepath.Base(dir), "error", err)
		return false
	}
	n.known[last.AttemptId] = job
	n.retained[last.AttemptId] = dir + recordSuffix
	n.cfg.Logger.Info("retained files recovered", "attempt", last.AttemptId)
	return true
}

// removeFiles removes files that no reader will ask for.
func (n *Daemon) removeFiles(orphans []string) {
	for _, path := range orphans {
		if err := removeTree(path); err != nil {
			n.cfg.Logger.Warn("cannot remove local files", "path", path, "error", err)
		}
	}
}

// resendReport sends the final report of a retained attempt again.
func (n *Daemon) resendReport(attempt string) {
	path, held := n.retained[attempt]
	if !held {
		return
	}
	last, err := readRecord(path)
	if err != nil {
		n.cfg.Logger.Warn("cannot read the record of an attempt", "attempt", attempt, "error", err)
		return
	}
	last.Machine = n.cfg.Name
	n.send(last)
}
