package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// programs are the names of Chromium, in the order of preference.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// timeout bounds the start of the browser, and one step of a test in it. The first start reads the whole
// program from the disk, while other tests may use all processors.
const timeout = time.Minute

// Browser is a profile of its own in the Chromium of the test binary.
type Browser struct{ ctx context.Context }

// shared is the Chromium of a test binary. Main sets dir before any test runs.
var shared struct {
	dir  string // of its files; short, since it is in the name of a socket
	once sync.Once
	ctx  context.Context
	end  func()
	err  error
}

// Main runs the tests of a binary and then ends the Chromium that Start has started, if any. Its result is the exit
// status:
//
//	func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }
func Main(m interface{ Run() int }) int {
	var err error
	if shared.dir, err = os.MkdirTemp("", "chromium"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(shared.dir)
	status := m.Run()
	if shared.end != nil {
		shared.end()
	}
	return status
}

// Start returns a browser with an empty profile, which ends with the test. The first call starts Chromium.
func Start(t testing.TB) *Browser {
	t.Helper()
	if RaceEnabled {
		t.Skip("the browser looks at the pages only: make test opens it without the race detector")
	}
	path := find()
	if path == "" {
		missing(t, "no Chromium (%v) is in PATH; install the package chromium", programs)
	}
	if shared.dir == "" {
		t.Fatal("TestMain does not call browsertest.Main")
	}
	if shared.once.Do(func() { launch(path) }); shared.err != nil {
		t.Fatalf("%s cannot be started: %v", path, shared.err)
	}
	ctx, cancel := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("new profile: %v", err)
	}
	return &Browser{ctx}
}

// launch starts Chromium, or sets shared.err.
func launch(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.Env("TMPDIR="+shared.dir),
		chromedp.ExecPath(path), chromedp.WSURLReadTimeout(timeout), chromedp.UserDataDir(filepath.Join(shared.dir, "profile")), chromedp.DisableGPU,
		chromedp.NoSandbox, // its sandbox needs rights that containers lack, and the pages are our own
		chromedp.Flag("disable-partial-raster", true), // else the edges of what is painted again depend on the times of changes
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	shared.ctx, shared.end = ctx, func() {
		cancel()
		end()
	}
	shared.err = chromedp.Do(ctx)
}

// find returns the path of Chromium, "" if there is none.
func find() string {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// missing skips a test that lacks a program or file, or ends it if CI is "true".
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
