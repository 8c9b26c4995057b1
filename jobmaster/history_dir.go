package jobmaster

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// Histories and logs lie in a directory for each day, so that no directory grows with the
// age of the cluster and old days are removed as a whole:
//
//	HISTORY/2026-11-23/job_1_0001.jsonl.zst   the history of a job that finished on that day, in UTC
//	HISTORY/2026-11-23/index-….jsonl          a line for each of some jobs of that day
//	LOGS/2026-11-23/job_1_0001/…              the logs of a job that was submitted on that day

// dayName returns the directory of the day of a time in ms since the epoch.
func dayName(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateOnly) }

// endOfDay returns when the day of a directory ends; ok is false for other names.
func endOfDay(name string) (end time.Time, ok bool) {
	start, err := time.Parse(time.DateOnly, name)
	return start.AddDate(0, 0, 1), err == nil
}

// indexPrefix begins the names of indexes. The history of a job has another name.
const indexPrefix = "index-"

// historyFile returns the name of the file of a job's history.
func historyFile(id cluster.JobID) string { return id.String() + history.CompressedSuffix }

// writeHistory writes a temporary file and renames it, so that readers never see a part of a
// history. If the history exists, an earlier leader has written it.
func (m *Master) writeHistory(ctx context.Context, id cluster.JobID, h *history.Job) error {
	name := path.Join(dayName(h.Status.FinishTime), historyFile(id))
	fsys, file, err := m.cfg.Resolve(ctx, joinName(m.cfg.HistoryDir, name))
	if err != nil {
		return err
	}
	if _, err := fsys.Stat(ctx, file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return m.writeHistoryFile(ctx, name, func(w io.Writer) error { return history.Encode(w, h) })
}

// writeHistoryFile writes a file below Config.HistoryDir, which appears complete.
//
// The temporary name contains the time, so that two masters that write the same history do
// not write to one file.
func (m *Master) writeHistoryFile(ctx context.Context, name string, write func(io.Writer) error) error {
	fsys, file, err := m.cfg.Resolve(ctx, joinName(m.cfg.HistoryDir, name))
	if err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d.tmp", file, m.cfg.Now().UnixNano())
	if err := storage.WriteFile(ctx, fsys, temporary, storage.CreateOptions{Private: true}, write); err != nil {
		return err
	}
	if err := fsys.Rename(ctx, temporary, file); err != nil {
		return errors.Join(err, fsys.Remove(ctx, temporary, false))
	}
	return nil
}

// writeIndex writes the lines of jobs into indexes of their days. An index is never changed;
// a day has several. Two indexes may list one job, if a leader was lost before it retired
// the job.
func (m *Master) writeIndex(ctx context.Context, lines []history.Summary) error {
	days := make(map[string][]history.Summary)
	for _, l := range lines {
		days[dayName(l.FinishTime)] = append(days[dayName(l.FinishTime)], l)
	}
	for day, lines := range days {
		name := fmt.Sprintf("%s/%s%s-%d%s", day, indexPrefix, lines[0].ID, m.cfg.Now().UnixNano(), history.IndexSuffix)
		err := m.writeHistoryFile(ctx, name, func(w io.Writer) error {
			for _, l := range lines {
				if _, err := w.Write(append(l.Encode(), '\n')); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// historyDays returns the file system and the directories of the days that have histories,
// the newest first.
func (m *Master) historyDays(ctx context.Context) (fsys storage.FS, days []string, err error) {
	fsys, root, err := m.cfg.Resolve(ctx, m.cfg.HistoryDir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := fsys.List(ctx, root)
	if errors.Is(err, fs.ErrNotExist) {
		return fsys, nil, nil
	}
	for _, e := range slices.Backward(entries) {
		if _, ok := endOfDay(path.Base(e.Path)); ok && e.IsDir {
			days = append(days, e.Path)
		}
	}
	return fsys, days, err
}

// openHistory opens the history of a job. finishedAt is 0 if the state does not know when
// the job finished; then the days are searched, the newest first. The error wraps
// fs.ErrNotExist if the job has no history.
func (m *Master) openHistory(ctx context.Context, id cluster.JobID, finishedAt int64) (storage.File, error) {
	if finishedAt != 0 {
		fsys, day, err := m.cfg.Resolve(ctx, joinName(m.cfg.HistoryDir, dayName(finishedAt)))
		if err != nil {
			return nil, err
		}
		if f, err := openIn(ctx, fsys, day, id); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	fsys, days, err := m.historyDays(ctx)
	if err != nil {
		return nil, err
	}
	for _, day := range days {
		if f, err := openIn(ctx, fsys, day, id); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, fs.ErrNotExist
}

// openIn opens the history of a job in a directory. The error wraps fs.ErrNotExist if it is not there.
func openIn(ctx context.Context, fsys storage.FS, dir string, id cluster.JobID) (storage.File, error) {
	return fsys.Open(ctx, path.Join(dir, historyFile(id)))
}

// JobsSince returns the status of all jobs as Jobs does, also of retired jobs, without those
// that finished before since, in ms since the epoch. It reads the indexes of the days since
// then, and no histories.
func (m *Master) JobsSince(ctx context.Context, since int64) ([]*wire.JobStatus, error) {
	release, err := m.startLargeAnswer(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	// The state is read first: a job that is retired meanwhile is in both lists.
	jobs, err := m.Jobs(ctx, true)
	if err != nil {
		return nil, err
	}
	found, err := m.retiredSince(ctx, since)
	if err != nil {
		return nil, err
	}
	jobs = slices.DeleteFunc(jobs, func(j *wire.JobStatus) bool { return j.FinishTime != 0 && j.FinishTime < since })
	for _, j := range jobs {
		delete(found, j.JobId)
	}
	for _, l := range found {
		jobs = append(jobs, l.Status())
	}
	slices.SortFunc(jobs, func(a, b *wire.JobStatus) int {
		return cmp.Or(cmp.Compare(a.SubmitTime, b.SubmitTime), cmp.Compare(a.JobId, b.JobId))
	})
	return jobs, nil
}

// maxRetiredJobs is how many lines of indexes one list may have: a cluster may retire a hundred
// thousand jobs in a day.
const maxRetiredJobs = 100_000

// retiredSince returns the lines of the indexes of the days since a time, by the id of the
// job, without jobs that finished before. It refuses more than maxRetiredJobs.
func (m *Master) retiredSince(ctx context.Context, since int64) (map[string]history.Summary, error) {
	found := make(map[string]history.Summary)
	if m.cfg.HistoryDir == "" {
		return found, nil
	}
	fsys, days, err := m.historyDays(ctx)
	if err != nil {
		return nil, err
	}
	for _, day := range days {
		if path.Base(day) < dayName(since) {
			continue
		}
		if err := readIndexes(ctx, fsys, day, since, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readIndexes adds the lines of all indexes of a day to found.
func readIndexes(ctx context.Context, fsys storage.FS, day string, since int64, found map[string]history.Summary) error {
	entries, err := fsys.List(ctx, day)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := path.Base(e.Path); !strings.HasPrefix(name, indexPrefix) || !strings.HasSuffix(name, history.IndexSuffix) {
			continue
		}
		if err := readIndex(ctx, fsys, e.Path, since, found); err != nil {
			return err
		}
	}
	return nil
}

// readIndex adds the lines of one index to found.
func readIndex(ctx context.Context, fsys storage.FS, name string, since int64, found map[string]history.Summary) error {
	f, err := fsys.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close() // the file was only read
	for lines := json.NewDecoder(bufio.NewReader(f)); ; {
		var l history.Summary
		if err := lines.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("index %s: %w: %w", name, storage.ErrCorrupt, err)
		}
		if l.FinishTime < since {
			continue
		}
		if found[l.ID] = l; len(found) > maxRetiredJobs {
			return fmt.Errorf("%w: more than %d jobs have finished since %s; ask for a shorter time",
				cluster.ErrRefused, maxRetiredJobs, time.UnixMilli(since).UTC().Format(time.RFC3339))
		}
	}
}
