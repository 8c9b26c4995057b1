package minihdfs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestMain also makes this binary the supervisor that the test of Up starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "supervise" {
		if err := minihdfs.Supervise(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(minihdfs.Main(m, minihdfs.Config{DataNodes: 2}))
}

func listRoot(t *testing.T, http9870 string) string {
	t.Helper()
	response, err := http.Get("http://" + http9870 + "/webhdfs/v1/?op=LISTSTATUS")
	must.Do(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must.Do(t, err)
	return string(body)
}

// TestUpDown checks that a cluster outlives Up, that a second Up finds it, and that Down
// ends it.
//
// Gate: TestDownEndsRecordedProcesses, TestUpQuotesItsSupervisor, storage/hdfs.TestConformance
func TestUpDown(t *testing.T) {
	testlevel.Nightly(t)
	minihdfs.ForTest(t) // skips the test without HDFS
	ctx := t.Context()
	cfg := minihdfs.Config{Dir: t.TempDir(), DataNodes: 1, Supervisor: []string{os.Args[0], "supervise"}}
	state, err := minihdfs.Up(ctx, cfg)
	must.Do(t, err)
	t.Cleanup(func() { minihdfs.Down(context.Background(), cfg.Dir) })
	listRoot(t, state.HTTP)
	again, err := minihdfs.Up(ctx, cfg)
	if err != nil || again.Supervisor != state.Supervisor {
		t.Errorf("second Up: %+v, %v, want the first cluster %+v", again, err, state)
	}
	must.Do(t, minihdfs.Down(ctx, cfg.Dir))
	for _, p := range append(state.DataNodes, state.NameNode, state.Supervisor) {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d/exe", p.PID)); err == nil {
			t.Errorf("process %d outlives Down", p.PID)
		}
	}
	if err := minihdfs.Down(ctx, cfg.Dir); err != nil {
		t.Error("second Down:", err)
	}
}

func TestValidateReportsAll(t *testing.T) {
	cfg := minihdfs.Config{DataNodes: 2, Replication: 3, BlockSize: 100, Network: "10.0.0"}
	cfg.EnsureDefaults()
	err := cfg.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range []string{"Dir", "Replication", "BlockSize", "Network"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not name %s", err, word)
		}
	}
}
