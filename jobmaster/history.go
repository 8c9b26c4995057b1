package jobmaster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// The history of a job is a file of JSON lines that is written when the job is over: a
// line about the job, one about each task, and a last one with their number
// (docs/formats/history.md).

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

// readHistory returns the final status of an archived or retired job. If the history of a job
// was removed, the job is unknown.
func (m *Master) readHistory(ctx context.Context, id cluster.JobID) (*wire.JobStatus, error) {
	finishedAt, err := local(ctx, m, func() (int64, error) {
		if j := m.view.Job(id); j != nil {
			return j.FinishedAt, nil
		}
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	if m.cfg.HistoryDir == "" {
		return nil, fmt.Errorf("%w: %v is over, and the status of older jobs is not kept: this cluster writes no histories", cluster.ErrUnknown, id)
	}
	release, err := m.startLargeAnswer(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	f, err := m.openHistory(ctx, id, finishedAt)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %v is over and its history in %s was removed; histories are kept for %v (--retention)", cluster.ErrUnknown, id, m.cfg.HistoryDir, m.settings().Retention)
	case err != nil:
		return nil, err
	}
	defer f.Close() // the file was only read
	s, err := DecodeHistory(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("history of %v in %s: %w", id, m.cfg.HistoryDir, err)
	}
	return s, nil
}
