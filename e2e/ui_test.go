package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// browser is a client of pages, which signs in once and keeps its cookie.
type browser struct {
	t    *testing.T
	root string
	http *http.Client
}

// newBrowser signs in at a page with the token of a cluster.
func newBrowser(t *testing.T, address, tokenFile string) *browser {
	t.Helper()
	token, err := os.ReadFile(tokenFile)
	must.Do(t, err)
	jar, err := cookiejar.New(nil)
	must.Do(t, err)
	b := &browser{t, "http://" + address, &http.Client{Jar: jar, Timeout: 30 * time.Second}}
	status, text := b.post("/login", url.Values{"token": {strings.TrimSpace(string(token))}, "to": {"/jobs"}})
	if status != http.StatusOK || !strings.Contains(text, "<h1>Jobs</h1>") {
		t.Fatalf("signed in: status %d, %.500s", status, text)
	}
	return b
}

func (b *browser) send(method, path string, body io.Reader) (status int, text string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, b.root+path, body)
	must.Do(b.t, err)
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := b.http.Do(r)
	must.Do(b.t, err)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	must.Do(b.t, err)
	return answer.StatusCode, string(all)
}

// post sends a form and follows the redirection.
func (b *browser) post(path string, form url.Values) (status int, text string) {
	b.t.Helper()
	return b.send(http.MethodPost, path, strings.NewReader(form.Encode()))
}

// page returns a page, which must exist.
func (b *browser) page(path string) string {
	b.t.Helper()
	status, text := b.send(http.MethodGet, path, nil)
	if status != http.StatusOK {
		b.t.Fatalf("%s: status %d: %.2000s", path, status, text)
	}
	return text
}

// json decodes an answer of the API.
func (b *browser) json(path string, into any) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.page("/api/v1"+path)), into); err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
}

// rows returns the cells of the rows of a page's tables that have a row header, by header.
func rows(page string) map[string]string {
	found := make(map[string]string)
	z, header, in := html.NewTokenizer(strings.NewReader(page)), "", ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken:
			if in = z.Token().Data; in == "tr" {
				header = ""
			}
		case html.TextToken:
			text := strings.ReplaceAll(strings.TrimSpace(z.Token().Data), "\u202f", "")
			switch {
			case in == "th":
				header = text
			case in == "td" && header != "":
				found[header] = text
			}
		case html.EndTagToken:
			in = ""
		}
	}
}

// serveUI starts `hammr ui` for the cluster and returns its address.
func (e *engine) serveUI(tokenFile string) string {
	e.t.Helper()
	return e.serve("--masters", strings.Join(e.state.Addresses(), ","), "--token-file", tokenFile)
}

// serve starts `hammr ui` for the cluster or for files, and returns its address.
func (e *engine) serve(args ...string) string {
	e.t.Helper()
	address, _ := serveUI(e.t, e.command(args...))
	return address
}

// serveUI starts `hammr ui` with the arguments of a command. It ends with the test.
func serveUI(t *testing.T, c command) (address string, ui *process) {
	t.Helper()
	ports, err := launch.FreePorts("127.0.0.1", 1)
	must.Do(t, err)
	address = ports[0]
	c.args = append([]string{"ui", "--http", address}, c.args...)
	c.daemon = true
	ui = prepare(t, c)
	ui.begin(t)
	t.Cleanup(func() {
		must.Do(t, ui.cmd.Process.Signal(os.Interrupt))
		ui.wait(t).want(t, 0)
	})
	waitUntil(t, "hammr ui listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return address, ui
}

// TestPagesShowTheFiguresOfCommands runs a job, and compares its page, the API and the command.
// Every master serves the pages, and so does `hammr ui`.
func TestPagesShowTheFiguresOfCommands(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	out := filepath.Join(t.TempDir(), "out")
	id := e.submit("wordcount", proseFile(t, "prose", 200<<10), out)
	waitUntil(t, "the job is over", func() bool { return e.job(id).State != report.Running })
	token := filepath.Join(e.dir, localcluster.TokenFile)

	ui := e.serveUI(token)
	want := e.shown(id)
	for _, address := range []string{e.state.Masters[0].HTTP, ui} {
		b := newBrowser(t, address, token)
		var got report.Report
		b.json("/jobs/"+id, &got)
		if got.State != report.Succeeded || got.ElapsedSeconds != want.ElapsedSeconds || len(got.Phases) != len(want.Phases) {
			t.Errorf("the API shows %+v, the command %+v", got, want)
		}
		counters := rows(b.page("/jobs/" + id + "/counters"))
		for group, names := range want.Counters {
			for name, value := range names {
				text, _ := json.Marshal(value)
				if got.Counters[group][name] != value || counters[strings.TrimSpace(name)] != string(text) {
					t.Errorf("%s: page %q, API %d, command %d", name, counters[strings.TrimSpace(name)], got.Counters[group][name], value)
				}
			}
		}
		var tasks struct {
			Tasks []apidoc.TaskRow
			Total int
		}
		b.json("/jobs/"+id+"/tasks?limit=1000", &tasks)
		if tasks.Total != len(want.Tasks) || len(tasks.Tasks) != len(want.Tasks) {
			t.Errorf("%d tasks, want %d", tasks.Total, len(want.Tasks))
		}
		list := b.page("/jobs/" + id + "/tasks")
		for _, task := range want.Tasks {
			if !strings.Contains(list, task.ID) {
				t.Errorf("the page of tasks lacks %s", task.ID)
			}
			var same report.Task
			b.json("/jobs/"+id+"/tasks/"+task.ID, &same)
			if len(same.Attempts) != len(task.Attempts) || same.Attempts[0] != task.Attempts[0] {
				t.Errorf("the API shows %+v, the command %+v", same, task)
			}
			b.page("/jobs/" + id + "/tasks/" + task.ID)
		}
		var events apidoc.Events
		b.json("/jobs/"+id+"/events", &events)
		if len(events.Events) < 2*len(want.Tasks) {
			t.Errorf("%d events of %d tasks", len(events.Events), len(want.Tasks))
		}
		for _, path := range []string{"/", "/jobs", "/jobs/" + id, "/jobs/" + id + "/conf", "/nodes", "/nodes/" + e.state.Tasknodes[0].Name, "/pools", "/scheduler", "/masters", "/search"} {
			b.page(path)
		}
		if status, text := b.post("/jobs/"+id+"/kill", url.Values{}); status != http.StatusConflict || !strings.Contains(text, "is over already") {
			t.Errorf("kill of a finished job: status %d, %.500s", status, text)
		}
	}
	b := newBrowser(t, e.state.Masters[0].HTTP, token)
	node := e.state.Tasknodes[0].Name
	if status, text := b.post("/nodes/"+node+"/admit", url.Values{}); status != http.StatusOK || !strings.Contains(text, "The node is added.") {
		t.Errorf("admit: status %d, %.2000s", status, text)
	}
}
