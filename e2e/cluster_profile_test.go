package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pprofile "github.com/google/pprof/profile"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestStacksOfATaskThatHangs finds the function in which a task hangs: by the command, on a page, and
// after its tasknode was restarted in place. It takes profiles of the task and of the daemons too. The
// task is not disturbed, and a suspended one is refused at once.
func TestStacksOfATaskThatHangs(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, threeMasters)
	d := newDoors(t, 1)
	job := d.submit(e, proseFile(t, "prose", 10<<10), filepath.Join(t.TempDir(), "out"))
	d.wait(0)
	running := e.attempts(job, wire.AttemptState_ATTEMPT_RUNNING)[0]
	attempt, node := running.Id, running.Machine

	stacks := func() string { return e.done("task", "stacks", attempt).stdout }
	if text := stacks(); !strings.Contains(text, "[IO wait") || !strings.Contains(text, "standAtDoor") {
		t.Errorf("stacks: %s", text)
	}
	dir := t.TempDir()
	for _, args := range [][]string{
		{"task", "profile", attempt, "--kind", "cpu", "--seconds", "1"}, {"task", "profile", attempt, "--kind", "heap"}, {"task", "profile", attempt, "--kind", "goroutine"},
		{"node", "profile", node, "--kind", "heap"}, {"master", "profile", "m1", "--kind", "goroutine"}, {"master", "profile", "m3", "--kind", "goroutine"},
	} {
		file := filepath.Join(dir, strings.Join(args, "-"))
		e.done(append(args, "--out", file)...)
		data, err := os.ReadFile(file)
		must.Do(t, err)
		p, err := pprofile.ParseData(data)
		if err != nil || slices.Contains(args, "goroutine") && !strings.Contains(p.String(), map[string]string{"task": "standAtDoor", "master": "jobmaster"}[args[0]]) {
			t.Errorf("%q: %v, %.1000s", args, err, p)
		}
	}

	token := e.tokenFile()
	for _, address := range []string{e.state.Masters[1].HTTP, e.serveUI(token)} {
		b := newBrowser(t, address, token)
		status, page := b.post("/attempts/"+attempt+"/profile", url.Values{"kind": {"stacks"}})
		if status != http.StatusOK || !strings.Contains(page, "standAtDoor") || !strings.Contains(page, "IO wait") {
			t.Errorf("page of stacks: status %d, %.3000s", status, page)
		}
		if status, page = b.post("/nodes/"+node+"/profile", url.Values{"kind": {"heap"}}); status != http.StatusOK || !strings.Contains(page, "go tool pprof") {
			t.Errorf("page of a heap: status %d, %.3000s", status, page)
		}
	}

	e.restart(node).want(t, 0)
	if text := stacks(); !strings.Contains(text, "standAtDoor") {
		t.Errorf("after the restart: %s", text)
	}
	e.done("job", "suspend", job, "--how", "suspend")
	waitUntil(t, "the task is suspended", func() bool {
		r := start(t, e.command("task", "stacks", attempt)).waitOnly(t)
		return strings.Contains(r.stderr, "suspended")
	})
	start(t, e.command("task", "stacks", attempt)).wait(t).want(t, 1, "suspended", "resume it first")
	e.done("job", "resume", job)
	d.open(0)
	waitUntil(t, "the job is over", func() bool { return e.job(job).State != report.Running })
	if over := e.job(job); over.State != report.Succeeded || len(over.Tasks[0].Attempts) != 1 {
		t.Errorf("the job is %+v", over)
	}
	waitUntil(t, "the master that is asked knows that the attempt is over", func() bool { // a follower learns it a moment later
		return strings.Contains(start(t, e.command("task", "stacks", attempt)).waitOnly(t).stderr, "is over")
	})
}
