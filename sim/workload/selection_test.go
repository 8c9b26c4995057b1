package workload

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
)

// pastDay is a day on which jobs finished.
var pastDay = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// writeHistory writes the history of a job that finished at a time, compressed or not.
func writeHistory(t *testing.T, fsys storage.FS, dir, id, pool string, compressed bool, finish time.Time) {
	t.Helper()
	end := finish.UnixMilli()
	text := fmt.Sprintf(`{"type":"job","version":2,"job":{"jobId":%q,"queue":%q,"submitTime":"%d","finishTime":"%d"}}
{"type":"task","task":{"id":"task%s_m_000000","kind":"MAP","attempts":[{"node":"n1","state":"ATTEMPT_SUCCEEDED","startTime":"%d","finishTime":"%d"}]}}
`, id, pool, end-9000, end, id[3:], end-8000, end)
	name := dir + "/" + id + ".jsonl"
	events := 0
	if compressed {
		events = 1
		text += `{"type":"event","event":{"at":1,"kind":"start"}}` + "\n"
		name += ".zst"
	}
	text += fmt.Sprintf(`{"type":"end","tasks":1,"events":%d}`, events)
	err := storage.WriteFile(t.Context(), fsys, name, storage.CreateOptions{}, func(w io.Writer) error {
		if !compressed {
			_, err := io.WriteString(w, text)
			return err
		}
		z, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(z, text); err != nil {
			return err
		}
		return z.Close()
	})
	must.Do(t, err)
}

// TestReadHistoriesSelects reads histories of both versions from another file system. It opens only
// files that can have a selected job.
func TestReadHistoriesSelects(t *testing.T) {
	opened := 0
	fsys := fault.New(mem.New(mem.Options{}), fault.Options{Ask: func(op fault.Op, _ string) (time.Duration, error) {
		if op == fault.Open {
			opened++
		}
		return 0, nil
	}})
	at := func(day, hour int) time.Time { return pastDay.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour) }
	writeHistory(t, fsys, "/history/2026-11-23", "job_1_0001", "prod", false, at(0, 10))
	writeHistory(t, fsys, "/history/2026-11-23", "job_1_0002", "dev", true, at(0, 20))
	writeHistory(t, fsys, "/history/2026-11-24", "job_1_0003", "prod", true, at(1, 2))
	writeHistory(t, fsys, "/history", "job_1_0004", "prod", false, at(1, 3))
	for _, c := range []struct {
		s      Selection
		want   string // ids, or a part of the error
		opened int
	}{
		{Selection{}, "1 2 3 4", 4},
		{Selection{Pool: "prod"}, "1 3 4", 4},
		{Selection{From: pastDay.UnixMilli(), To: at(1, 0).UnixMilli()}, "1 2", 3}, // and the one without a day
		{Selection{From: at(0, 15).UnixMilli(), To: at(1, 3).UnixMilli()}, "2 3", 4},
		{Selection{From: at(1, 0).UnixMilli()}, "3 4", 2},
		{Selection{Jobs: []string{"job_1_0003", "job_1_0001"}}, "1 3", 2},
		{Selection{Jobs: []string{"job_1_0009"}}, `no selected job "job_1_0009"`, 0},
		{Selection{Pool: "none"}, "no job is selected", 4},
		{Selection{MaxJobs: 4}, "1 2 3 4", 4},
		{Selection{MaxJobs: 2}, "more than 2 jobs are selected", 3},
	} {
		opened = 0
		w, err := ReadHistories(t.Context(), fsys, "/history", Options{Select: c.s})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || opened != c.opened {
				t.Errorf("%+v: %v, %d files opened; want %q, %d", c.s, err, opened, c.want, c.opened)
			}
			continue
		}
		var ids []string
		for i := range w.Jobs {
			ids = append(ids, strings.TrimPrefix(w.Jobs[i].ID, "job_1_000"))
			if w.Jobs[i].Recorded != 9000 || w.Jobs[i].Maps[0].Millis != 8000 {
				t.Errorf("%+v", w.Jobs[i])
			}
		}
		if got := strings.Join(ids, " "); got != c.want || opened != c.opened {
			t.Errorf("%+v: %s, %d files opened; want %s, %d", c.s, got, opened, c.want, c.opened)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadHistories(ctx, fsys, "/history", Options{}); err == nil {
		t.Error("read after the end of the context")
	}
}
