package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hammr/hammr/hammrtest"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
)

// hammr is the program under test, built by TestMain.
var hammr string

// clusterDir is the directory of the shared cluster.
var clusterDir string

// blockSize is the default block size of the shared cluster: small, so that a file of a few
// MiB has many blocks.
const blockSize = 1 << 20

// tasks are the jobs whose tasks this binary runs on a cluster.
var tasks = []mr.Runnable{shout, doored, staged}

func TestMain(m *testing.M) {
	mr.ServeTask(tasks...)
	if gateAddress() != "" {
		mr.Main(gatedProgram())
	}
	if name := os.Getenv(programEnv); name != "" {
		mr.Main(programs[name]())
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	hammr = filepath.Join(dir, "hammr")
	clusterDir = filepath.Join(dir, "hdfs")
	sharedClusters.dir = filepath.Join(dir, "shared")
	if err := hammrtest.PlaceProgram(hammr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	runSideBySide()
	status := minihdfs.Main(m, minihdfs.Config{Dir: clusterDir, BlockSize: blockSize})
	if err := errors.Join(closeShared(), nothingLeft()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// sideBySide is how many of the tests that mostly wait run in parallel, unless the command
// line sets it.
const sideBySide = "4"

func runSideBySide() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", sideBySide) // a flag of package testing, so it exists
	}
}

// nothingLeft reports child processes that have not been waited for, and a cluster that
// still listens.
func nothingLeft() error {
	var faults []error
	for _, pid := range children() {
		faults = append(faults, fmt.Errorf("process %s is left", pid))
	}
	if shared.address != "" {
		conn, err := net.DialTimeout("tcp", shared.address, time.Second)
		if err == nil {
			conn.Close()
			faults = append(faults, fmt.Errorf("%s still listens", shared.address))
		}
	}
	return errors.Join(faults...)
}

// shared is the cluster that the first test that needs it starts.
var shared struct{ address string }

// cluster returns the shared HDFS with all its DataNodes live, or skips the test.
func cluster(t *testing.T) *minihdfs.Cluster {
	t.Helper()
	c := minihdfs.ForTest(t)
	shared.address = c.RPC()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.Do(t, c.WaitLive(ctx, c.DataNodes()))
	return c
}
