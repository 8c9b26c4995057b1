package tasknode

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle/transfer"
)

// TestCopyOutput checks that either the complete output of an attempt is copied from another
// tasknode, as if it had run here, or nothing is.
func TestCopyOutput(t *testing.T) {
	const key = "secret"
	for name, tt := range map[string]struct {
		spoil func(dir string, o *wire.Order_CopyOutput) error // before it is copied
		fails bool
	}{
		"intact": {},
		"one output is stored": {spoil: func(_ string, o *wire.Order_CopyOutput) error {
			o.Finished.Outputs = append(o.Finished.Outputs, &taskproc.MapOutput{Edge: 1, Stored: true, Path: "mem:///out", Attempt: attemptID})
			return nil
		}},
		"no data":        {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Remove(dir + "/map.out") }, fails: true},
		"data truncated": {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Truncate(dir+"/map.out", 3) }, fails: true},
		"data flipped":   {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return flip(dir + "/map.out") }, fails: true},
		"no index":       {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Remove(dir + "/map.out.index") }, fails: true},
		"bad index": {spoil: func(dir string, _ *wire.Order_CopyOutput) error {
			return os.WriteFile(dir+"/map.out.index", []byte("x"), 0o600)
		}, fails: true},
		"other index": {spoil: func(_ string, o *wire.Order_CopyOutput) error { o.Finished.Outputs[0].IndexChecksum++; return nil }, fails: true},
		"wrong token": {spoil: func(_ string, o *wire.Order_CopyOutput) error { o.Token = "guess"; return nil }, fails: true},
		"token of another job": {spoil: func(_ string, o *wire.Order_CopyOutput) error {
			o.Token = transfer.JobToken(key, "job_1_0002")
			return nil
		}, fails: true},
		"no address": {spoil: func(_ string, o *wire.Order_CopyOutput) error {
			o.Finished.Outputs[0].Address = "127.0.0.1:0"
			return nil
		}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			there, here := t.TempDir(), filepath.Join(t.TempDir(), "job_1_0001", taskdir.InJob(attemptID))
			dir := filepath.Join(there, "job_1_0001", taskdir.InJob(attemptID))
			must.Do(t, os.MkdirAll(dir, 0o700))
			served, err := transfer.NewServer(transfer.ServerConfig{Dirs: []string{there}, Key: key})
			must.Do(t, err)
			server := httptest.NewServer(served)
			defer server.Close()
			output := writeSegments(t, dir)
			output.Address = server.Listener.Addr().String()
			order := &wire.Order_CopyOutput{AttemptId: attemptID, JobId: "job_1_0001", Token: transfer.JobToken(key, "job_1_0001"), Finished: &taskproc.Finished{Outputs: []*taskproc.MapOutput{output}, OutputBytes: 9}}
			if tt.spoil != nil {
				must.Do(t, tt.spoil(dir, order))
			}
			c := outputCopy{order: order, dir: here, create: createHere(t.Context())}
			_, err = c.copy(t.Context())
			if tt.fails {
				if _, left := os.Stat(here); err == nil || !errors.Is(left, os.ErrNotExist) {
					t.Errorf("copy error %v; directory left: %v", err, left)
				}
				return
			}
			must.Do(t, err)
			wantSame(t, dir, here, "map.out", "map.out.index")
			last, err := readRecord(here + recordSuffix)
			if err != nil || last.AttemptId != attemptID || last.GetFinished().GetOutputBytes() != 9 {
				t.Fatalf("record is %v, %v", last, err)
			}
			if o := last.GetFinished().Outputs[0]; o.Path != filepath.Join(here, "map.out") || o.Address != "" || order.Finished.Outputs[0].Address == "" {
				t.Errorf("reported output %v, original %v", o, order.Finished.Outputs[0])
			}
		})
	}
}

func wantSame(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		a, err := os.ReadFile(filepath.Join(from, name))
		b, fault := os.ReadFile(filepath.Join(to, name))
		if err = errors.Join(err, fault); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(b), len(a), err)
		}
	}
}
