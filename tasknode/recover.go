package tasknode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// logsDir is the directory, in that of a job, for what its attempts print.
const logsDir = "logs"

// recoverRetained finds what an earlier start of the daemon has left in the local
// directories: of finished attempts it takes charge again, the rest is removed.
// Jobs that are over meanwhile are removed when the jobmaster says so.
func (n *Daemon) recoverRetained() {
	for _, dir := range n.cfg.Dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			n.cfg.Logger.Warn("what an earlier start has left is not found", "directory", dir, "error", err)
		}
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), "job_") {
				n.recoverJob(e.Name(), filepath.Join(dir, e.Name()))
			}
		}
	}
}

// recoverJob goes through a directory of one job.
func (n *Daemon) recoverJob(id, dir string) {
	n.job(id)
	entries, err := os.ReadDir(dir)
	if err != nil {
		n.cfg.Logger.Warn("what an earlier start has left is not found", "directory", dir, "error", err)
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

// recoverAttempt takes charge of what a finished attempt has left, and reports
// whether it is all there.
func (n *Daemon) recoverAttempt(job, dir string) bool {
	last, err := readRecord(dir + recordSuffix)
	if err == nil {
		err = checkRecord(dir, last)
	}
	if err != nil {
		n.cfg.Logger.Warn("what an attempt left before the restart is of no use", "attempt", filepath.Base(dir), "error", err)
		return false
	}
	n.known[last.AttemptId] = job
	n.retained[last.AttemptId] = dir + recordSuffix
	n.cfg.Logger.Info("what an attempt left before the restart is there", "attempt", last.AttemptId)
	return true
}

// removeFiles removes what nobody will ask for.
func (n *Daemon) removeFiles(orphans []string) {
	for _, path := range orphans {
		if err := removeTree(path); err != nil {
			n.cfg.Logger.Warn("local files of an earlier start stay", "path", path, "error", err)
		}
	}
}

// resendReport tells again how a finished attempt ended.
func (n *Daemon) resendReport(attempt string) {
	path, held := n.retained[attempt]
	if !held {
		return
	}
	last, err := readRecord(path)
	if err != nil {
		n.cfg.Logger.Warn("segments cannot be offered again", "attempt", attempt, "error", err)
		return
	}
	last.Machine = n.cfg.Name
	n.send(last)
}
