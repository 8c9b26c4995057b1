package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestPagesOfADrill plays a drill, and compares what each server of pages shows of it with what was
// done, with commands and with the histories.
//
// Gate: TestPagesShowTheFiguresOfCommands, internal/web.TestPictureOfADrill, internal/web/analysis.TestArrowsOfAllIncidents, internal/web/analysis.TestPreemptionsAreTheCountersOfTheJob
func TestPagesOfADrill(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	e := newEngine(t, "--masters", "3", "--tasknodes", "2", "--map-slots", "3")
	token := filepath.Join(e.dir, localcluster.TokenFile)
	j := stageJob(t, e)
	j.play()
	failed, killed := e.failedJob(), e.killedJob()

	var servers []*browser
	for _, m := range e.state.Masters {
		servers = append(servers, newBrowser(t, m.HTTP, token))
	}
	servers = append(servers, newBrowser(t, e.serveUI(token), token))
	files := e.serveFiles(j.id)
	truths := []*truth{e.truthOf(j.id), e.truthOf(failed), e.truthOf(killed)}
	for _, b := range append(servers, files) {
		j.checkArrows(b)
		for _, w := range truths {
			w.check(b, b != files)
		}
		checkWithoutJob(t, b, withNumber(j.id, "9999"))
	}
	checkDamaged(t, files, j.id)
	checkPolicies(t, servers[0], servers[1])
}

// failedJob runs a job whose map fails at each attempt: its input is damaged.
func (e *engine) failedJob() (id string) {
	e.t.Helper()
	id = e.submit("wordcount", newFile(e.t, "in.gz", []byte("this is not compressed by gzip\n")), filepath.Join(e.t.TempDir(), "out"))
	start(e.t, e.command("job", "wait", id, "--quiet")).wait(e.t).want(e.t, 1)
	if n := len(e.job(id).Failures); n < 4 {
		e.t.Errorf("%d failures, want those of 4 attempts", n)
	}
	return id
}

// killedJob kills a job that runs.
func (e *engine) killedJob() (id string) {
	e.t.Helper()
	id = e.submit("sleep", "-m", "3", "-r", "1", "-mt", "600000")
	j := preempted{e, id}
	waitUntil(e.t, "maps run", func() bool { return len(j.attempts(report.Map, report.Running)) > 1 })
	e.done("job", "kill", id)
	waitUntil(e.t, "the job is over", func() bool { return e.job(id).State == report.Killed })
	return id
}

// damaged is the number of a job whose history is cut off.
const damaged = "7777"

// serveFiles starts `hammr ui --history` on a copy of the histories, one of which it cuts off.
func (e *engine) serveFiles(id string) *browser {
	e.t.Helper()
	dir := filepath.Join(e.t.TempDir(), "history")
	var found []string
	waitUntil(e.t, "all histories are written", func() bool {
		found, _ = filepath.Glob(filepath.Join(e.cluster.Histories(), "*", "job_*"+history.CompressedSuffix))
		return len(found) == 3
	})
	must.Do(e.t, os.CopyFS(dir, os.DirFS(e.cluster.Histories())))
	whole := readFile(e.t, found[0])
	cut := filepath.Join(dir, filepath.Base(filepath.Dir(found[0])), withNumber(id, damaged)+history.CompressedSuffix)
	must.Do(e.t, os.WriteFile(cut, whole[:len(whole)/8], 0o600))
	return e.filesBrowser(dir)
}

// filesBrowser starts `hammr ui --history` on a directory.
func (e *engine) filesBrowser(dir string) *browser {
	e.t.Helper()
	token := filepath.Join(e.t.TempDir(), "token")
	must.Do(e.t, os.WriteFile(token, []byte("the-token-of-the-files\n"), 0o600))
	return newBrowser(e.t, e.serve("--history", dir, "--token-file", token), token)
}

// withNumber returns the id of another job of the same cluster.
func withNumber(id, number string) string { return id[:strings.LastIndex(id, "_")+1] + number }

// checkDamaged checks that the damaged file is named, and that the other histories are shown.
func checkDamaged(t *testing.T, b *browser, id string) {
	t.Helper()
	var past docs.HistoryPage
	b.json("/history", &past)
	if len(past.Jobs) != 3 || len(past.Problems) != 1 || !strings.Contains(past.Problems[0].File, withNumber(id, damaged)) {
		t.Errorf("histories %+v", past)
	}
	if page := b.page("/history"); !strings.Contains(page, past.Problems[0].File) {
		t.Errorf("the page does not name %+v", past.Problems)
	}
	if status, text := b.send(http.MethodGet, "/jobs/"+withNumber(id, damaged), nil); status != http.StatusInternalServerError || !strings.Contains(text, "the file is damaged") || !strings.Contains(text, past.Problems[0].File) {
		t.Errorf("a damaged history: status %d: %.500s", status, text)
	}
}

// checkPolicies lets two users change the policy at once: one of them wins, and the other learns of it.
// An invalid setting changes nothing.
func checkPolicies(t *testing.T, b, other *browser) {
	t.Helper()
	var before, now apidoc.Policy
	b.json("/scheduler", &before)
	set := func(b *browser, policy string) int {
		status, _ := b.post("/api/v1/scheduler/set", url.Values{"policy": {policy}, "expected": {before.Fingerprint}})
		return status
	}
	if status, text := b.post("/api/v1/scheduler/set", url.Values{"policy": {"fair"}, "hammr.fair.nonsense": {"1"}, "expected": {before.Fingerprint}}); status != http.StatusBadRequest || !strings.Contains(text, "hammr.fair.nonsense") {
		t.Errorf("an unknown setting: status %d: %s", status, text)
	}
	var both [2]int
	var users sync.WaitGroup
	users.Go(func() { both[0] = set(b, "fair") })
	users.Go(func() { both[1] = set(other, "hfsp") })
	users.Wait()
	winner := map[[2]int]string{{http.StatusOK, http.StatusConflict}: "fair", {http.StatusConflict, http.StatusOK}: "hfsp"}[both]
	if b.json("/scheduler", &now); winner == "" || now.Policy != winner {
		t.Errorf("two users at once: status %v, and the policy is %q", both, now.Policy)
	}
	if status, text := b.post("/api/v1/scheduler/undo", url.Values{"expected": {before.Fingerprint}}); status != http.StatusConflict {
		t.Errorf("undo of another policy: status %d: %s", status, text)
	}
	if status, text := b.post("/api/v1/scheduler/undo", url.Values{"expected": {now.Fingerprint}}); status != http.StatusOK {
		t.Errorf("undo: status %d: %s", status, text)
	}
	if b.json("/scheduler", &now); now.Policy != before.Policy {
		t.Errorf("the policy is %q after the undo, want %q", now.Policy, before.Policy)
	}
}
