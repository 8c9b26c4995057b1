package jobmaster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// The history of a job is a file of JSON lines that is written when the job is over: a
// line about the job, one about each task, and a last one with their number
// (docs/formats/history.md). Jobs whose history is written are retired from the state,
// the oldest first, when there are more than Config.KeepJobs.

// historyVersion is the version of the file format.
const historyVersion = 1

// historyLine is one line of a history.
type historyLine struct {
	Type    string          `json:"type"` // job, task or end
	Version int             `json:"version,omitempty"`
	Job     json.RawMessage `json:"job,omitempty"`
	Task    json.RawMessage `json:"task,omitempty"`
	Tasks   int             `json:"tasks,omitempty"`
}

// EncodeHistory writes the history of a job that is over. The last line contains the number
// of tasks, so that a reader detects a truncated file.
func EncodeHistory(w io.Writer, s *wire.JobStatus) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	head := proto.CloneOf(s)
	head.Tasks = nil
	job, err := protojson.Marshal(head)
	if err != nil {
		return err
	}
	if err := lines.Encode(historyLine{Type: "job", Version: historyVersion, Job: job}); err != nil {
		return err
	}
	for _, t := range s.Tasks {
		task, err := protojson.Marshal(t)
		if err != nil {
			return err
		}
		if err := lines.Encode(historyLine{Type: "task", Task: task}); err != nil {
			return err
		}
	}
	if err := lines.Encode(historyLine{Type: "end", Tasks: len(s.Tasks)}); err != nil {
		return err
	}
	return out.Flush()
}

// DecodeHistory reads a history. If the history is malformed or truncated, the error wraps
// storage.ErrCorrupt.
func DecodeHistory(r io.Reader) (*wire.JobStatus, error) {
	lines := json.NewDecoder(r)
	s := new(wire.JobStatus)
	for n := 1; ; n++ {
		var line historyLine
		err := lines.Decode(&line)
		if err == nil {
			err = line.addTo(s, n == 1)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", storage.ErrCorrupt, n, err)
		}
		if line.Type == "end" {
			return s, nil
		}
	}
}

// addTo adds the content of a line to a status. The first line describes the job, and no
// other line does.
func (l *historyLine) addTo(s *wire.JobStatus, first bool) error {
	switch {
	case first != (l.Type == "job"):
		return fmt.Errorf("unexpected line of type %q", l.Type)
	case l.Type == "job" && l.Version != historyVersion:
		return fmt.Errorf("version %d of the format; this program reads version %d", l.Version, historyVersion)
	case l.Type == "job":
		return protojson.Unmarshal(l.Job, s)
	case l.Type == "task":
		t := new(wire.TaskStatus)
		s.Tasks = append(s.Tasks, t)
		return protojson.Unmarshal(l.Task, t)
	case l.Type == "end" && l.Tasks != len(s.Tasks):
		return fmt.Errorf("%d tasks, but the end line counts %d", len(s.Tasks), l.Tasks)
	case l.Type == "end":
		return nil
	}
	return fmt.Errorf("unknown type %q", l.Type)
}

// historyName returns the full name of a job's history.
func (m *Master) historyName(id cluster.JobID) string {
	return joinName(m.cfg.HistoryDir, id.String()+".jsonl")
}

// archive starts to write the history of a job that is over, once in each lead. The status
// is made here, in the loop. It does not change afterwards, so a goroutine may write it.
func (m *Master) archive(id cluster.JobID) {
	r := m.record(id)
	if m.cfg.HistoryDir == "" || r.archiving {
		return
	}
	r.archiving = true
	s, l := m.fullStatus(m.view.Job(id), r), m.lead
	m.workers.Go(func() {
		if m.retryWriteHistory(l.ctx, id, s) {
			m.postUnder(l, func() { m.historyWritten(id) })
		}
	})
}

// retryWriteHistory writes the history of a job and retries until it succeeds or ctx ends.
//
// The pause between two tries doubles from a second to a minute. The storage may be
// unavailable for hours, and no history may be lost in this time. The job stays in the state
// until its history is written.
func (m *Master) retryWriteHistory(ctx context.Context, id cluster.JobID, s *wire.JobStatus) bool {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		err := m.writeHistory(ctx, m.historyName(id), s)
		if err == nil {
			return true
		}
		m.cfg.Logger.Warn("cannot write the history of a job, retrying", "job", id, "error", err)
		if syncutil.Sleep(ctx, pause) != nil {
			return false
		}
	}
}

// writeHistory writes a temporary file and renames it, so that readers never see a part of a
// history. If the history exists, an earlier leader has written it.
//
// The temporary name contains the time, so that two masters that write the same history do
// not write to one file.
func (m *Master) writeHistory(ctx context.Context, name string, s *wire.JobStatus) error {
	fsys, path, err := m.cfg.Resolve(ctx, name)
	if err != nil {
		return err
	}
	if _, err := fsys.Stat(ctx, path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temporary := fmt.Sprintf("%s.%d.tmp", path, m.cfg.Now().UnixNano())
	if err := storage.WriteFile(ctx, fsys, temporary, func(w io.Writer) error { return EncodeHistory(w, s) }); err != nil {
		return err
	}
	return fsys.Rename(ctx, temporary, path)
}

// historyWritten retires the oldest jobs if there are more than Config.KeepJobs. This bounds
// the memory for finished jobs. The status of a retired job is read from its history.
func (m *Master) historyWritten(id cluster.JobID) {
	m.archivedJobs = append(m.archivedJobs, id)
	for len(m.archivedJobs) > m.cfg.KeepJobs {
		m.request(cluster.RetireJob{Job: m.archivedJobs[0]})
		m.archivedJobs = m.archivedJobs[1:]
	}
}

// readHistory returns the final status of a retired job. If the history of a job was
// removed, the job is unknown.
func (m *Master) readHistory(ctx context.Context, id cluster.JobID) (*wire.JobStatus, error) {
	name := m.historyName(id)
	f, err := m.open(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %v is over and its history %s was removed; histories are kept for %v (--retention)", cluster.ErrUnknown, id, name, m.cfg.Retention)
	case err != nil:
		return nil, err
	}
	defer f.Close() // the file was only read
	s, err := DecodeHistory(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", name, err)
	}
	return s, nil
}
