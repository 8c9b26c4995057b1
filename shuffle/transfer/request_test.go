package transfer

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseRequest(t *testing.T) {
	long := strings.Repeat("x", maxElement)
	for path, want := range map[string]request{
		"/shuffle/j/a/f": {job: "j", attempt: "a", file: "f"},
		"/shuffle/job_1_0001/attempt_1_0001_m_000000_0/map.out.index": {job: "job_1_0001", attempt: "attempt_1_0001_m_000000_0", file: "map.out.index"},
		"/shuffle/j/a/f?partition=12&run=0":                           {job: "j", attempt: "a", file: "f", run: true, partition: 12},
		"/shuffle/j/a/f?verify=true":                                  {job: "j", attempt: "a", file: "f", verify: true},
		"/shuffle/j/a/d/f":                                            {job: "j", attempt: "a", file: "d/f"},
		"/shuffle/j/a/" + long:                                        {job: "j", attempt: "a", file: long},
	} {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseRequest(u); err != nil || got != want {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	for _, path := range []string{
		"/", "/shuffle/", "/shuffle/j/a", "/shuffle/j/a/d/f/g", "/shuffle/j/a/", "/shuffle/j/a/d/", "/shuffle/j/a/../f", "/other/j/a/f", "shuffle/j/a/f",
		"/shuffle/../a/f", "/shuffle/j/./f", "/shuffle/j/a/..", "/shuffle/j/a/.f", "/shuffle/j//f", "/shuffle/j/a%2Fb%2Fc/f",
		"/shuffle/j/a/%2e%2e", "/shuffle/j/a/f%00", `/shuffle/j/a/..%5Cf`, "/shuffle/j/a/f%20", "/shuffle/j/ä/f",
		"/shuffle/j/a/" + strings.Repeat("x", maxElement+1),
		"/shuffle/j/a/f?partition=1", "/shuffle/j/a/f?run=1", "/shuffle/j/a/f?partition=-1&run=0", "/shuffle/j/a/f?partition=1&run=x",
		"/shuffle/j/a/f?partition=1&partition=2&run=0", "/shuffle/j/a/f?partition=2147483648&run=0", "/shuffle/j/a/f?verify=maybe",
		"/shuffle/j/a/f?other=1", "/shuffle/j/a/f?verify=%zz", "/shuffle/j/a/f?a;b",
	} {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseRequest(u); err == nil {
			t.Errorf("%s: accepted as %+v", path, got)
		}
	}
}

// TestURLsAreParsedByTheServer checks that the server parses every URL that a fetcher builds.
func TestURLsAreParsedByTheServer(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z0-9_][a-zA-Z0-9._-]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		o := Output{Address: "h:1", Job: name.Draw(t, "job"), Attempt: name.Draw(t, "attempt"), File: name.Draw(t, "file")}
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
			if err != nil {
				t.Fatal(err)
			}
			if got, err := parseRequest(u); err != nil || got != want {
				t.Fatalf("%s: %+v, %v", text, got, err)
			}
		}
	})
}

func FuzzParseRequest(f *testing.F) {
	f.Add("/shuffle/j/a/f", "partition=1&run=2")
	f.Add("/shuffle/j/../f", "verify=true")
	f.Fuzz(func(t *testing.T, path, query string) {
		q, err := parseRequest(&url.URL{Path: path, RawQuery: query})
		if err != nil {
			return
		}
		name := q.name()
		if !filepath.IsLocal(name) || strings.Count(name, "/") != 2 || filepath.Clean(name) != name || strings.ContainsAny(name, "\x00\\") {
			t.Fatalf("path %q leads to %q", path, name)
		}
		if q.partition < 0 || q.number < 0 || !q.run && q.partition+q.number > 0 {
			t.Fatalf("query %q means %+v", query, q)
		}
	})
}
