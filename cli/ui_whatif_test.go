package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/access"
)

// commandVariable makes the test binary run its arguments as hammr does.
const commandVariable = "HAMMR_TEST_COMMAND"

func init() {
	if os.Getenv(commandVariable) != "" {
		os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
	}
}

// whatIfPages serves the pages of a directory of histories, as `hammr ui --history` does.
func whatIfPages(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	t.Setenv(commandVariable, "yes")
	files, err := fsconf.NewRouter(conf.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	source, closeSource, err := (&pastFlags{history: dir}).open(files.Resolve)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := access.New(access.Config{Refuse: web.Refuse})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gate.Handler(web.New(web.Config{Source: source, Gate: gate, Name: "hammr ui"})))
	t.Cleanup(func() {
		server.Close()
		if err := closeSource(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// document reads a document of the API.
func document[T any](t *testing.T, answer *http.Response, err error) (doc T) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || json.Unmarshal(body, &doc) != nil {
		t.Fatalf("status %d, %v: %s", answer.StatusCode, err, body)
	}
	return doc
}

// TestWhatIfPageShowsWhatTheCommandPrints simulates histories by the page, in a process of its own, and
// by the command.
func TestWhatIfPageShowsWhatTheCommandPrints(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "1970-01-01"), 0o755); err != nil {
		t.Fatal(err)
	}
	long, short, _ := strings.Cut(pastJobs, `"tasks":4}`+"\n")
	writeFile(t, filepath.Join(dir, "1970-01-01", "job_1_0001.jsonl"), long+`"tasks":4}`)
	writeFile(t, filepath.Join(dir, "job_1_0002.jsonl"), short)
	server := whatIfPages(t, dir)
	answer, err := http.PostForm(server.URL+"/api/v1/whatif", url.Values{"policy": {"hfsp", "fair"}, "baseline": {"fifo"}, "nodes": {"2"}, "to": {"1970-01-01"}})
	run := document[apidoc.WhatIfRun](t, answer, err)
	for run.State == apidoc.WhatIfRunning {
		<-time.After(10 * time.Millisecond)
		answer, err := http.Get(server.URL + "/api/v1/whatif/" + run.ID)
		run = document[apidoc.WhatIfRun](t, answer, err)
	}
	code, stdout, stderr := call("sim", "whatif", "--history", dir, "--policy", "fair,hfsp", "--baseline", "fifo", "--nodes", "2", "--to", "1970-01-01", "--json", "--quiet")
	var want apidoc.WhatIf
	if err := json.Unmarshal([]byte(stdout), &want); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
	if run.State != apidoc.WhatIfDone || !reflect.DeepEqual(*run.Result, want) {
		t.Fatalf("the page has %+v\n%+v\nwant %+v", run, run.Result, want)
	}
	if want.Observed != (apidoc.WhatIfCluster{Machines: 1, MapSlots: 2, ReduceSlots: 1}) || want.Cluster.Machines != 2 || want.Recorded.Max != 23_000 || want.Recorded.Makespan != 24_000 || want.Baseline.Difference < .03 || want.Baseline.Difference > .035 {
		t.Errorf("%+v", want)
	}
	answer, err = http.Get(server.URL + "/scheduler/whatif/" + run.ID)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(page), " ")
	for _, part := range []string{"2 jobs on 2 nodes with 2 map and 1 reduce slots each; the histories show 1 nodes", "3.3 %", "hammr sim whatif --history file://" + dir, "--policy fair,hfsp"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in the page (%v): %s", part, err, text)
		}
	}
	for _, j := range want.Jobs {
		for _, took := range j.Predicted {
			if shown := fmt.Sprintf("%.1f s", float64(took)/1000); !strings.Contains(text, shown) {
				t.Errorf("%s: no %s in the page", j.ID, shown)
			}
		}
	}
}

// TestSimWhatifSelects selects jobs by each flag, and prints JSON.
func TestSimWhatifSelects(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "past.jsonl", strings.Replace(pastJobs, `"name":"short"`, `"name":"short","queue":"prod"`, 1))
	for flags, want := range map[string]string{
		"":                                       "job_1_0001 job_1_0002",
		"--job job_1_0002":                       "job_1_0002",
		"--pool prod":                            "job_1_0002",
		"--from 1970-01-01T00:00:22Z":            "job_1_0002",
		"--to 1970-01-01T00:00:22Z":              "job_1_0001",
		"--from 1970-01-01 --to 1970-01-01":      "job_1_0001 job_1_0002",
		"--from 1970-01-02":                      "no job is selected",
		"--pool dev":                             "no job is selected",
		"--job job_1_0001,job_1_0003":            `no selected job "job_1_0003"`,
		"--max-jobs 1":                           "more than 1 jobs are selected",
		"--from noon":                            "expected days as 2026-11-23 or times of RFC 3339",
		"--baseline nonsense":                    "--baseline: ",
		"--conf hfsp:a=b":                        `policy "hfsp" is none of fifo`,
		"--conf fair:nonsense=b --baseline fair": "--baseline: policy fair: setting nonsense",
	} {
		code, stdout, stderr := call(strings.Fields("sim whatif --history past.jsonl --policy fifo --json " + flags)...)
		var doc apidoc.WhatIf
		if code == exitDone && json.Unmarshal([]byte(stdout), &doc) != nil {
			t.Errorf("%s: %s", flags, stdout)
		}
		var ids []string
		for _, j := range doc.Jobs {
			ids = append(ids, j.ID)
		}
		if got := strings.Join(ids, " "); code == exitDone && got != want || code != exitDone && !strings.Contains(stderr, want) {
			t.Errorf("%s: jobs %s, %s", flags, got, stderr)
		}
	}
	code, stdout, stderr := call(strings.Fields("sim whatif --history past.jsonl --policy fair --baseline fifo")...)
	if want := "\nerror of the simulator (mean difference of fifo on 1 machines with 2 map and 1 reduce slots): 3.3 %\n"; code != exitDone || !strings.HasSuffix(stdout, want) {
		t.Errorf("baseline: exit code %d, %s%s", code, stdout, stderr)
	}
}

// TestWhatIfFlagsAreThoseOfTheCommand compares the arguments of a page with the flags.
func TestWhatIfFlagsAreThoseOfTheCommand(t *testing.T) {
	q := web.WhatIfQuery{Params: map[string]string{"jobs": "a", "pool": "b", "from": "c", "to": "d", "policy": "e", "baseline": "f", "nodes": "7", "mapSlots": "8", "reduceSlots": "9"}, Settings: map[string]string{"e:x": "1"}}
	args := q.Args("/history", false)
	cmd := newSimWhatif()
	if err := cmd.ParseFlags(args[2:]); err != nil || len(args) != 2+2*(2+len(q.Params)) {
		t.Errorf("%q of %v: %v", args, maps.Clone(q.Params), err)
	}
}
