package minihdfs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
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

// TestKillStopPartition breaks each daemon in each way.
//
// Gate: TestForwarder, storage/hdfs.TestDataNodeLostWhileReading, storage/hdfs.TestNameNodeStopped
func TestKillStopPartition(t *testing.T) {
	testlevel.Nightly(t)
	c := minihdfs.ForTest(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.DataNode(0).Kill())
	if c.DataNode(0).Runs() || !c.DataNode(1).Runs() || !c.NameNode().Runs() {
		t.Error("DataNode 0 alone is killed")
	}
	must(c.WaitLive(ctx, 1))
	must(c.DataNode(0).Restart(ctx))
	must(c.WaitLive(ctx, 2))

	c.DataNode(1).Partition()
	must(c.WaitLive(ctx, 1))
	must(c.DataNode(1).Heal())
	must(c.WaitLive(ctx, 2))

	must(c.NameNode().Stop())
	quick, cancelQuick := context.WithTimeout(ctx, time.Second)
	defer cancelQuick()
	if _, err := c.Health(quick); err == nil {
		t.Error("a stopped NameNode answers")
	}
	must(c.NameNode().Continue())
	must(c.NameNode().Kill())
	must(c.NameNode().Restart(ctx))
	must(c.WaitLive(ctx, 2))
}

// TestTwoAtOnce starts a second cluster next to the shared one, and starts it again on the
// same folder. The file that the test has created still exists.
//
// Gate: storage/hdfs.TestEncryptedWrite, storage/hdfs.TestNameNodeRestarted
func TestTwoAtOnce(t *testing.T) {
	testlevel.Nightly(t)
	first := minihdfs.ForTest(t)
	ctx := t.Context()
	cfg := minihdfs.Config{Dir: t.TempDir(), DataNodes: 1}
	second, err := minihdfs.Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if first.URI() == second.URI() {
		t.Error("two clusters share", first.URI())
	}
	if out, err := second.RunJava(ctx, "org.apache.hadoop.fs.FsShell", "-mkdir", "/kept"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	second, err = minihdfs.Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if list := listRoot(t, second.HTTP()); !strings.Contains(list, `"kept"`) {
		t.Error("after a restart the root holds", list)
	}
	if list := listRoot(t, first.HTTP()); strings.Contains(list, `"kept"`) {
		t.Error("the other cluster holds", list)
	}
}

func listRoot(t *testing.T, http9870 string) string {
	t.Helper()
	response, err := http.Get("http://" + http9870 + "/webhdfs/v1/?op=LISTSTATUS")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { minihdfs.Down(context.Background(), cfg.Dir) })
	listRoot(t, state.HTTP)
	again, err := minihdfs.Up(ctx, cfg)
	if err != nil || again.Supervisor != state.Supervisor {
		t.Errorf("second Up: %+v, %v, want the first cluster %+v", again, err, state)
	}
	if err := minihdfs.Down(ctx, cfg.Dir); err != nil {
		t.Fatal(err)
	}
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
