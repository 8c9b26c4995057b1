package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// View is how a page is shown.
type View struct {
	Width, Height int  // pixels; 0 for 1280 and 900
	Dark          bool // the user prefers dark colours
	NoScript      bool // scripts do not run
}

// Tab is a tab of a browser. It is for one goroutine.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu struct {
		sync.Mutex
		origin   string // of the page
		address  string // of the page
		problems []string
		requests int
		bytes    map[string]int // received, by path
		paths    map[network.RequestID]string
	}
}

// Open opens a tab, which is closed with the test. Tabs of a browser share their cookies.
func (b *Browser) Open(t testing.TB, v View) *Tab {
	t.Helper()
	tab := &Tab{t: t}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithListener(tab.note))
	t.Cleanup(cancel)
	tab.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // the tab lasts as long as the context of the first action
		t.Fatalf("browser: %v", err)
	}
	if v.Width == 0 {
		v.Width = 1280
	}
	if v.Height == 0 {
		v.Height = 900
	}
	theme := "light"
	if v.Dark {
		theme = "dark"
	}
	tab.do(
		chromedp.EmulateViewport(int64(v.Width), int64(v.Height)),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.NoScript}),
		command(log.Enable, cdp.Empty{}), command(audits.Enable, cdp.Empty{}))
	return tab
}

// command returns an action that sends a command of the protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

// do runs actions. A failure ends the test.
func (tab *Tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		tab.t.Fatalf("browser: %v", err)
	}
}

// note collects problems from the events of the tab.
func (tab *Tab) note(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			tab.problemLocked("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			tab.problemLocked("console: %s", e.Args[0].Value)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		tab.problemLocked("exception: %s", text)
	case *audits.EventIssueAdded:
		if d := e.Issue.Details.ContentSecurityPolicyIssueDetails; d != nil {
			tab.problemLocked("policy: %s %s %s", d.ContentSecurityPolicyViolationType, d.ViolatedDirective, d.BlockedURL)
		}
	case *page.EventJavascriptDialogOpening:
		tab.problemLocked("dialog: %s %s", e.Type, e.Message)
		go func() {
			_ = chromedp.Do(tab.ctx, command(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}))
		}()
	case *network.EventRequestWillBeSent:
		tab.requestLocked(e)
	case *network.EventLoadingFinished:
		if path := tab.mu.paths[e.RequestID]; path != "" {
			tab.mu.bytes[path] += int(e.EncodedDataLength)
		}
	}
}

func (tab *Tab) problemLocked(format string, args ...any) {
	tab.mu.problems = append(tab.mu.problems, fmt.Sprintf(format, args...))
}

// requestLocked records a request. A data URL causes none.
func (tab *Tab) requestLocked(e *network.EventRequestWillBeSent) {
	if strings.HasPrefix(e.Request.URL, "data:") || tab.mu.origin == "" || !strings.HasPrefix(e.DocumentURL, tab.mu.origin+"/") { // or of the page before
		return
	}
	path, inside := strings.CutPrefix(e.Request.URL, tab.mu.origin+"/")
	if !inside {
		tab.problemLocked("request to another origin: %s", e.Request.URL)
	}
	if e.DocumentURL != tab.mu.address { // the page before asks once more
		return
	}
	tab.mu.requests++
	tab.mu.paths[e.RequestID] = "/" + path
}

// Go opens a URL and waits until the page is loaded. It forgets the problems and requests of the page
// before. The status of the page does not matter.
func (tab *Tab) Go(address string) {
	tab.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tab.t.Fatal(err)
	}
	tab.mu.Lock()
	tab.mu.origin, tab.mu.address = u.Scheme+"://"+u.Host, address
	tab.mu.problems, tab.mu.requests, tab.mu.bytes, tab.mu.paths = nil, 0, make(map[string]int), make(map[network.RequestID]string)
	tab.mu.Unlock()
	tab.do(chromedp.Navigate(address))
}

// ClearCache makes the browser forget the files that it has received.
func (tab *Tab) ClearCache() {
	tab.t.Helper()
	tab.do(command(network.ClearBrowserCache, cdp.Empty{}))
}

// Problems returns the problems of the page so far.
func (tab *Tab) Problems() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return tab.mu.problems
}

// Received returns the number of requests of the page so far, and the bytes of the answers with their
// headers, as compressed, by path.
func (tab *Tab) Received() (requests int, bytes map[string]int) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return tab.mu.requests, tab.mu.bytes
}

// Eval returns the value of a JavaScript expression in the page. It works without scripts too, and
// waits for a promise.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, timeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tab.t.Fatalf("browser: %.200s: %v", expression, err)
	}
	return value
}

// Follow runs an expression that leads to another page, as a click does, and waits until that page is
// loaded. The expression must not wait.
func (tab *Tab) Follow(expression string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, timeout)
	defer cancel()
	Eval[bool](tab, "window.isFollowed = true; "+expression+"; true")
	for {
		// An error says that the page is being replaced.
		loaded, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`window.isFollowed === undefined && document.readyState === "complete"`))
		if err == nil && loaded {
			return
		}
		select {
		case <-ctx.Done():
			tab.t.Fatalf("browser: %.200s leads to no other page: %v", expression, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Press presses keys, as "\t" for Tab.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.do(chromedp.KeyEvent(keys))
}

// Picture returns the whole page as PNG.
func (tab *Tab) Picture() []byte {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, timeout)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		tab.t.Fatalf("browser: picture: %v", err)
	}
	return png
}
