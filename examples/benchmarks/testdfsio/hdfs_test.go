package testdfsio

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestMain(m *testing.M) { os.Exit(minihdfs.Main(m, minihdfs.Config{})) }

// TestOnHDFS writes, reads and cleans up on a real HDFS, in the default directory, and
// checks the counters of the file system.
//
// Gate: TestWriteReadClean, storage/hdfs.TestConformance
func TestOnHDFS(t *testing.T) {
	testlevel.Nightly(t)
	c := minihdfs.ForTest(t)
	s := newStage(t)
	for _, test := range []struct{ name, counter string }{{"write", "written"}, {"read", "read"}} {
		got := mrtest.Exec(t, Program(), "-fs", c.URI(), "-"+test.name, "-nrFiles", "2", "-size", "3MB", "-resFile", s.log)
		if got.Code != mr.ExitDone {
			t.Fatalf("exit code %d\n%s", got.Code, got.Stderr)
		}
		counted := regexp.MustCompile("HDFS: Number of bytes " + test.counter + `=(\d+)`).FindStringSubmatch(got.Stderr)
		if counted == nil {
			t.Fatalf("%s: no counter of bytes %s in\n%s", test.name, test.counter, got.Stderr)
		}
		const files, small = 2 * 3 * megabyte, 500 // small bounds the control files that are read and the sums that are written
		if n, err := strconv.Atoi(counted[1]); err != nil || n < files || n > files+small {
			t.Errorf("%s: %s bytes %s, want %d and a few", test.name, counted[1], test.counter, files)
		}
	}
	s.checkLog("write", "read")
	if got := mrtest.Exec(t, Program(), "-fs", c.URI(), "-clean"); got.Code != mr.ExitDone {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
	got := mrtest.Exec(t, Program(), "-fs", c.URI(), "-read", "-resFile", s.log)
	if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, "there are 0 in "+c.URI()+"/benchmarks/TestDFSIO/io_data") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}
