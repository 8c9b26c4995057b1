package minihdfs

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// RequireEnv is the environment variable that makes a test fail instead of being skipped if
// HDFS is missing. CI=true does the same.
const RequireEnv = "HAMMR_REQUIRE_HDFS"

// TB is the part of testing.TB that ForTest needs, so that programs with this package do not
// link testing.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// shared is the one cluster of a test binary. Main sets cfg before any test runs
// and ends the cluster after the last one.
var shared struct {
	cfg  Config
	once sync.Once
	c    *Cluster
	err  error
}

// Main runs the tests of a binary and then ends the cluster that ForTest has
// started, if any. Its result is the exit status:
//
//	func TestMain(m *testing.M) { os.Exit(minihdfs.Main(m, minihdfs.Config{})) }
//
// cfg.Dir may be left empty.
func Main(m interface{ Run() int }, cfg Config) int {
	dir, err := os.MkdirTemp("", "minihdfs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if cfg.Dir == "" {
		cfg.Dir = dir
	}
	shared.cfg = cfg
	status := m.Run()
	if shared.c == nil {
		return status
	}
	if err := shared.c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// ForTest returns the cluster shared by all tests of the binary, which it starts on first
// use. If Java or the jars are missing, the test is skipped, or fails if CI is "true" or
// RequireEnv is "1". It may be called by tests in parallel.
func ForTest(t TB) *Cluster {
	t.Helper()
	shared.once.Do(startSharedCluster)
	if shared.err == nil {
		return shared.c
	}
	if os.Getenv("CI") == "true" || os.Getenv(RequireEnv) == "1" {
		t.Fatalf("no HDFS for the test: %v", shared.err)
	}
	t.Skipf("no HDFS for the test (set %s=1 to fail instead): %v", RequireEnv, shared.err)
	return nil
}

// startSharedCluster sets the shared cluster or its error, once for all tests.
func startSharedCluster() {
	if shared.cfg.Dir == "" {
		shared.err = fmt.Errorf("minihdfs: TestMain does not call minihdfs.Main")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if _, shared.err = findJava(); shared.err != nil {
		return
	}
	shared.c, shared.err = Start(ctx, shared.cfg)
}
