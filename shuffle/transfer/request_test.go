package transfer

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestParseRequest(t *testing.T) {
	long := strings.Repeat("x", maxElement)
	for path, want := range map[string]request{
		"/shuffle/job_1/attempt_1_a/f":                                {job: "job_1", attempt: "attempt_1_a", file: "f"},
		"/shuffle/job_1_0001/attempt_1_0001_m_000000_0/map.out.index": {job: "job_1_0001", attempt: "attempt_1_0001_m_000000_0", file: "map.out.index"},
		"/shuffle/job_1/attempt_1_a/f?partition=12&run=0":             {job: "job_1", attempt: "attempt_1_a", file: "f", run: true, partition: 12},
		"/shuffle/job_1/attempt_1_a/f?verify=true":                    {job: "job_1", attempt: "attempt_1_a", file: "f", verify: true},
		"/shuffle/job_1/attempt_1_a/d/f":                              {job: "job_1", attempt: "attempt_1_a", file: "d/f"},
		"/shuffle/job_1/attempt_1_a/" + long:                          {job: "job_1", attempt: "attempt_1_a", file: long},
	} {
		u, err := url.Parse(path)
		must.Do(t, err)
		if got, err := parseRequest(u); err != nil || got != want {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	for _, path := range []string{
		"/", "/shuffle/", "/shuffle/job_1/attempt_1_a", "/shuffle/job_1/attempt_1_a/d/f/g", "/shuffle/job_1/attempt_1_a/", "/shuffle/job_1/attempt_1_a/d/", "/shuffle/job_1/attempt_1_a/../f", "/other/j/a/f", "shuffle/j/a/f",
		"/shuffle/../a/f", "/shuffle/job_1/./f", "/shuffle/job_1/attempt_1_a/..", "/shuffle/job_1/attempt_1_a/.f", "/shuffle/job_1//f", "/shuffle/job_1/attempt_1_a%2Fb%2Fc/f",
		"/shuffle/job_1/attempt_1_a/%2e%2e", "/shuffle/job_1/attempt_1_a/f%00", `/shuffle/job_1/attempt_1_a/..%5Cf`, "/shuffle/job_1/attempt_1_a/f%20", "/shuffle/job_1/ä/f",
		"/shuffle/job_1/attempt_1_a/" + strings.Repeat("x", maxElement+1),
		"/shuffle/job_1/attempt_1_a/f?partition=1", "/shuffle/job_1/attempt_1_a/f?run=1", "/shuffle/job_1/attempt_1_a/f?partition=-1&run=0", "/shuffle/job_1/attempt_1_a/f?partition=1&run=x",
		"/shuffle/job_1/attempt_1_a/f?partition=1&partition=2&run=0", "/shuffle/job_1/attempt_1_a/f?partition=2147483648&run=0", "/shuffle/job_1/attempt_1_a/f?verify=maybe",
		"/shuffle/job_1/logs/f", "/shuffle/job_1/m_000000/f", "/shuffle/job_1/m_000000/attempt_1_a/f", "/shuffle/job_1/logs/attempt_1_a/stdout", "/shuffle/job_1/attempt_2_a/f", "/shuffle/job_1/attempt_10_a/f", "/shuffle/1/attempt_1_a/f",
		"/shuffle/job_1/attempt_1_a/f?other=1", "/shuffle/job_1/attempt_1_a/f?verify=%zz", "/shuffle/job_1/attempt_1_a/f?a;b",
	} {
		u, err := url.Parse(path)
		must.Do(t, err)
		if got, err := parseRequest(u); err == nil {
			t.Errorf("%s: accepted as %+v", path, got)
		}
	}
}

// TestURLsAreParsedByTheServer checks that the server parses every URL that a fetcher builds.
func TestURLsAreParsedByTheServer(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z0-9_][a-zA-Z0-9._-]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		job := name.Draw(t, "job")
		o := Output{Address: "h:1", Job: "job_" + job, Attempt: "attempt_" + job + "_" + name.Draw(t, "attempt"), File: name.Draw(t, "file")}
		partition, run := rapid.IntRange(0, 1<<31-1).Draw(t, "partition"), rapid.IntRange(0, 1<<31-1).Draw(t, "run")
		file := request{job: o.Job, attempt: o.Attempt, file: o.File}
		index, one, ask := file, file, file
		index.file += ".index"
		one.run, one.partition, one.number = true, partition, run
		ask.verify = true
		askRun := one
		askRun.verify = true
		for text, want := range map[string]request{
			o.indexURL(): index, o.runURL(partition, run): one, o.verifyURL(partition, -1): ask, o.verifyURL(partition, run): askRun,
		} {
			u, err := url.Parse(text)
			must.Do(t, err)
			if got, err := parseRequest(u); err != nil || got != want {
				t.Fatalf("%s: %+v, %v", text, got, err)
			}
		}
	})
}

func FuzzParseRequest(f *testing.F) {
	f.Add("/shuffle/job_1/attempt_1_a/f", "partition=1&run=2")
	f.Add("/shuffle/job_1/../f", "verify=true")
	f.Fuzz(func(t *testing.T, path, query string) {
		q, err := parseRequest(&url.URL{Path: path, RawQuery: query})
		if err != nil {
			return
		}
		name := q.name()
		if depth := strings.Count(name, "/"); !filepath.IsLocal(name) || depth != 2 && depth != 3 || filepath.Clean(name) != name || strings.ContainsAny(name, "\x00\\") {
			t.Fatalf("path %q leads to %q", path, name)
		}
		if job := jobOf(path); job != q.job || !strings.HasPrefix(q.attempt, "attempt_") {
			t.Fatalf("path %q needs the token of %q and leads to %s of %s", path, job, q.attempt, q.job)
		}
		if q.partition < 0 || q.number < 0 || !q.run && q.partition+q.number > 0 {
			t.Fatalf("query %q means %+v", query, q)
		}
	})
}
