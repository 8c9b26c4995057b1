package browsertest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// programs are the names of Chromium, in the order of preference.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// timeout bounds the start of the browser, and one step of a test in it. The first start reads the whole
// program from the disk, while other tests may use all processors.
const timeout = time.Minute

// Browser is a running Chromium with an empty profile.
type Browser struct{ ctx context.Context }

// Start starts a browser, which ends with the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	if RaceEnabled {
		t.Skip("the browser looks at the pages only: make test opens it without the race detector")
	}
	path := find()
	if path == "" {
		missing(t, "no Chromium (%v) is in PATH; install the package chromium", programs)
	}
	temporary, err := os.MkdirTemp("", "chromium") // short, since it is in the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temporary) })
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.Env("TMPDIR="+temporary),
		chromedp.ExecPath(path), chromedp.WSURLReadTimeout(timeout), chromedp.UserDataDir(t.TempDir()), chromedp.DisableGPU,
		chromedp.NoSandbox, // its sandbox needs rights that containers lack, and the pages are our own
		chromedp.Flag("disable-partial-raster", true), // else the edges of what is painted again depend on the times of changes
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s cannot be started: %v", path, err)
	}
	return &Browser{ctx}
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
