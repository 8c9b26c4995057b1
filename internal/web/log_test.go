package web

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/testing/must"
)

// readOf returns a function that reads parts of a text of at most step bytes.
func readOf(text string, step int64) func(context.Context, docs.LogRange) (docs.LogPart, error) {
	return func(_ context.Context, r docs.LogRange) (docs.LogPart, error) {
		offset, length := nodelog.Range{From: r.From, Max: min(r.Max, step)}.In(int64(len(text)))
		return docs.LogPart{Text: []byte(text[offset : offset+length]), Offset: offset, Size: int64(len(text)), Complete: true}, nil
	}
}

func TestLinesOfALog(t *testing.T) {
	const text = "one\ntwo\nthree\nfour"
	has := func(what string) func([]byte) bool {
		return func(line []byte) bool { return bytes.Contains(line, []byte(what)) }
	}
	for _, c := range []struct {
		q      logQuery
		want   string
		offset int64
		next   int64
	}{
		{logQuery{Max: 100}, text, 0, 18},
		{logQuery{Max: 6}, "one\n", 0, 4},
		{logQuery{From: 4, Max: 100}, "two\nthree\nfour", 4, 18},
		{logQuery{From: 5, Max: 2}, "wo", 5, 7}, // a part without a whole line
		{logQuery{From: -7, Max: 100}, "four", 14, 18},
		{logQuery{From: -100, Max: 100}, text, 0, 18},
		{logQuery{From: 18, Max: 100}, "", 18, 18},
		{logQuery{From: 99, Max: 100}, "", 18, 18},
		{logQuery{Max: 100, Match: has("o")}, "one\ntwo\nfour", 0, 18},
		{logQuery{Max: 1, Match: has("o")}, "one\n", 0, 4},
		{logQuery{From: 4, Max: 1, Match: has("ee")}, "three\n", 4, 14},
		{logQuery{Max: 100, Match: has("x")}, "", 0, 18},
	} {
		got, err := readLog(t.Context(), c.q, readOf(text, 1000))
		if err != nil || string(got.Text) != c.want || got.Offset != c.offset || got.Next != c.next {
			t.Errorf("%+v: %q at %d, next %d, %v; want %q at %d, next %d", c.q, got.Text, got.Offset, got.Next, err, c.want, c.offset, c.next)
		}
	}
}

// TestPartsOfALogAreTheLog reads a log part by part, with a filter and without: nothing is missing and
// nothing is there twice.
func TestPartsOfALogAreTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[ab]{0,9}`), 0, 30).Draw(t, "lines"), "\n")
		step, most := rapid.Int64Range(1, 40).Draw(t, "step"), rapid.Int64Range(1, 40).Draw(t, "max")
		for _, filter := range []string{"", "b"} {
			match, err := lineMatcher(filter, false)
			must.Do(t, err)
			q, all := logQuery{Max: most, Match: match}, ""
			for range len(text) + 1 {
				part, err := readLog(context.Background(), q, readOf(text, step))
				must.Do(t, err)
				all, q.From = all+string(part.Text), part.Next
			}
			want := ""
			for line := range strings.Lines(text) {
				if strings.Contains(line, filter) {
					want += line
				}
			}
			// A source that sends less than a line cuts it, so its rest is matched apart.
			if all != want && (filter == "" || step > 10 && most > 10) {
				t.Fatalf("filter %q: %q, want %q", filter, all, want)
			}
		}
	})
}

func TestTextOfATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                                   "plain",
		"a\x1b[31mred\x1b[0mb":                    "aredb",
		"\x1b[38;5;196mx\x1b[48;2;1;2;3my":        "xy",
		"\x1b[2J\x1b[10;10Hgone":                  "gone",
		"\x1b]0;title\a":                          `\x1b]0;title\a`,
		"cut \x1b[31":                             `cut \x1b[31`,
		"no \x1b[\x1b[1mend":                      `no \x1b[end`,
		"one\r\ntwo\r":                            "one\ntwo\\r",
		"\x1b[" + strings.Repeat("1;", 200) + "m": `\x1b[` + strings.Repeat("1;", 200) + "m",
		"<b>&\xff":                                "<b>&\ufffd",
	} {
		l := logLines{LogPart: docs.LogPart{Text: []byte(text)}}
		if got := l.document().Text; got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestPageOfALog(t *testing.T) {
	f := newFake("wordcount")
	f.logs[anOpen+"/stdout"] = strings.Repeat("line\n", 100_000) + "\x1b[31mlast\x1b[0m\n"
	h := newHandler(t, f)
	page := "/attempts/" + anOpen + "/logs"
	for query, want := range map[string]string{
		"":                         "line\nlast\n</code>",
		"?max=10":                  "Bytes 500\u202f004 to 500\u202f014 of 500\u202f014 so far",
		"?from=0&max=100":          `rel="next" href="` + page + `?from=100&amp;max=100"`,
		"?filter=las":              "Matching lines of bytes",
		"?filter=l.st&regex=yes":   "<code>last\n</code>",
		"?filter=nothing":          "No line matches",
		"?follow=yes":              `data-next="500014"`,
		"?stream=stderr":           "has printed nothing to stderr",
		"?stream=stderr&from=-100": "has printed nothing to stderr",
	} {
		w := request(h, page+query, nil)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: status %d, want %q: %.600s", query, w.Code, want, mainOf(w.Body.String()))
		}
		if n := checkPage(t, query, w.Body.String()); n > 200 || w.Body.Len() > 100_000 {
			t.Errorf("%s: %d elements, %d bytes", query, n, w.Body.Len())
		}
	}
	for query, status := range map[string]int{"?from=x": 400, "?max=0": 400, "?max=99999999": 400, "?filter=(&regex=yes": 400, "?stream=syslog": 400} {
		if w := request(h, page+query, nil); w.Code != status {
			t.Errorf("%s: status %d, want %d", query, w.Code, status)
		}
	}
	if w := request(h, strings.Replace(page, "_0/logs", "_7/logs", 1), nil); w.Code != http.StatusNotFound {
		t.Errorf("page of an attempt that does not exist: status %d", w.Code)
	}
	w := request(h, apiRoot+page+"/stdout?from=-16", nil)
	if h := w.Header(); w.Body.String() != "\x1b[31mlast\x1b[0m\n" || h.Get("Hammr-Log-Offset") != "500000" || h.Get("Hammr-Log-Next") != "500014" || h.Get("Hammr-Log-Size") != "500014" || h.Get("Hammr-Log-Complete") != "false" {
		t.Errorf("%q, %v", w.Body, w.Header())
	}
}

// longLog is a log of many bytes that are made when they are read. It notes the bytes that were read and are not
// written to the client.
type longLog struct {
	*fakeSource
	size             int64
	read, most, sent int64
}

func (l *longLog) Log(_ context.Context, _, _ string, r docs.LogRange) (docs.LogPart, error) {
	offset, length := nodelog.Range{From: r.From, Max: r.Max}.In(l.size)
	l.read += length
	l.most = max(l.most, l.read-l.sent)
	return docs.LogPart{Text: bytes.Repeat([]byte("0123456789abcde\n"), int(length/16)), Offset: offset, Size: l.size, Complete: true}, nil
}

// sink is a client that counts what it gets.
type sink struct {
	header http.Header
	status int
	bytes  *int64
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) Write(p []byte) (int, error) {
	*s.bytes += int64(len(p))
	return len(p), nil
}

// TestLongLogTakesLittleMemory reads a log to its end, and pages of it. No more of it than a part is in memory.
func TestLongLogTakesLittleMemory(t *testing.T) {
	const size = 64 << 20
	source := &longLog{fakeSource: newFake("wordcount"), size: size}
	h := handlerOf(t, source)
	get := func(path string) {
		t.Helper()
		source.read, source.most, source.sent = 0, 0, 0
		r := httptest.NewRequest(http.MethodGet, "http://localhost/attempts/"+anOver+"/logs"+path, nil)
		r.Header.Set("Authorization", "Bearer "+aToken)
		w := &sink{header: make(http.Header), bytes: &source.sent}
		if h.ServeHTTP(w, r); w.status != http.StatusOK && w.status != 0 {
			t.Errorf("%s: status %d", path, w.status)
		}
	}
	get("/stdout")
	if source.sent != size || source.most > size/16 {
		t.Errorf("%d bytes came, and %d bytes were in memory", source.sent, source.most)
	}
	for _, query := range []string{"", "?from=50000000", "?filter=nothing"} {
		if get(query); source.sent == 0 || source.sent > 200_000 {
			t.Errorf("%s: %d bytes", query, source.sent)
		}
	}
}
