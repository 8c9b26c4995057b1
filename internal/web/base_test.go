package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/testing/must"
)

// newBelow returns the handler of a fake cluster whose pages are below a path.
func newBelow(t *testing.T, base string, readers bool) http.Handler {
	t.Helper()
	gate, err := access.New(access.Config{Token: aToken, Refuse: Refuse, Base: base, AnonymousReaders: readers})
	must.Do(t, err)
	return gate.Handler(New(Config{Source: newFake("wordcount"), Gate: gate, Name: "master m1"}))
}

// TestPagesBelowABase follows all links of pages that a proxy serves below a path.
func TestPagesBelowABase(t *testing.T) {
	h := newBelow(t, "/hammr/", false)
	if w := request(h, "/", nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/hammr/" {
		t.Errorf("/: status %d, %v", w.Code, w.Header())
	}
	if w := request(h, "/jobs", nil); w.Code != http.StatusNotFound {
		t.Errorf("/jobs: status %d", w.Code)
	}
	seen, queue := map[string]bool{}, []string{"/hammr/", "/hammr/login"}
	for len(queue) > 0 && len(seen) < 200 {
		at := queue[0]
		queue = queue[1:]
		w := request(h, at, nil)
		if to := w.Header().Get("Location"); to != "" && !strings.HasPrefix(to, "/hammr/") {
			t.Errorf("%s leads to %s", at, to)
		}
		z := html.NewTokenizer(w.Body)
		for z.Next() != html.ErrorToken {
			for _, a := range z.Token().Attr {
				if a.Key != "href" && a.Key != "action" && a.Key != "src" || isOfPage(a.Val) {
					continue
				}
				if !strings.HasPrefix(a.Val, "/hammr/") {
					t.Errorf("%s: %s=%q", at, a.Key, a.Val)
				}
				if link, _, _ := strings.Cut(a.Val, "#"); a.Key == "href" && !seen[link] {
					seen[link] = true
					queue = append(queue, link)
				}
			}
		}
	}
	w := request(h, "/hammr/jobs/"+aJob+"/kill", url.Values{})
	if to := w.Header().Get("Location"); to != "/hammr/jobs/"+aJob {
		t.Errorf("a form leads to %s", to)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/hammr/nodes", nil)
	stranger := httptest.NewRecorder()
	if h.ServeHTTP(stranger, r); stranger.Code != http.StatusUnauthorized || !strings.Contains(stranger.Body.String(), `name="to" value="/hammr/nodes"`) {
		t.Errorf("without the token: status %d: %s", stranger.Code, mainOf(stranger.Body.String()))
	}
}

// TestAnswersAreCompressedOnce checks compression and ETags of pages, files and answers of the API.
func TestAnswersAreCompressedOnce(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	style, err := embedded().urlOf("style.css")
	must.Do(t, err)
	get := func(path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+aToken)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{"/", style, "/api/v1/openapi.json"} {
		plain, small := get(path), get(path, "Accept-Encoding", "gzip")
		if plain.Header().Get("Content-Encoding") != "" || small.Header().Get("Content-Encoding") != "gzip" || small.Body.Len() > plain.Body.Len()/2 {
			t.Errorf("%s: %d bytes, %d compressed, %v", path, plain.Body.Len(), small.Body.Len(), small.Header())
		}
		if path == "/" {
			continue
		}
		again := get(path, "If-None-Match", small.Header().Get("ETag"), "Accept-Encoding", "gzip")
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: status %d and %d bytes for the tag %s", path, again.Code, again.Body.Len(), small.Header().Get("ETag"))
		}
		if w := get(path, "If-None-Match", `W/"0"`); w.Code != http.StatusOK {
			t.Errorf("%s: status %d for an old tag", path, w.Code)
		}
	}
}

func TestInternalErrorsAreNotForReaders(t *testing.T) {
	f := newFake("wordcount")
	f.err = errors.New("secret of the disk")
	gate, err := access.New(access.Config{Token: aToken, Refuse: Refuse, AnonymousReaders: true})
	must.Do(t, err)
	h := gate.Handler(New(Config{Source: f, Gate: gate, Name: "master m1"}))
	for _, path := range []string{"/nodes", "/api/v1/nodes"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") || !strings.Contains(w.Body.String(), "the log of master m1 has it") {
			t.Errorf("%s: status %d: %s", path, w.Code, mainOf(w.Body.String()))
		}
		if w := request(h, path, nil); !strings.Contains(w.Body.String(), "secret of the disk") {
			t.Errorf("%s with the token: %s", path, mainOf(w.Body.String()))
		}
	}
}

// TestStrangersLearnNoParameters checks that a caller without the token gets the same answer for right
// and wrong parameters.
func TestStrangersLearnNoParameters(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for _, path := range []string{"/jobs?stat=x", "/api/v1/jobs?limit=x", "/attempts/" + anOver + "/logs?from=x"} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
}

func TestHeavyRequestsWait(t *testing.T) {
	s := &server{heavy: make(chan struct{}, maxHeavy)}
	var leave []func()
	for range maxHeavy {
		end, err := s.enterHeavy(t.Context())
		must.Do(t, err)
		leave = append(leave, end)
	}
	time.AfterFunc(20*time.Millisecond, leave[0])
	end, err := s.enterHeavy(t.Context())
	if err != nil {
		t.Fatalf("after one has ended: %v", err)
	}
	end()
	end, err = s.enterHeavy(t.Context()) // in the place of the one that has ended
	must.Do(t, err)
	defer end()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.enterHeavy(ctx); statusOf(err) != http.StatusTooManyRequests {
		t.Errorf("one too many: %v", err)
	}
}

// isOfPage reports whether a link needs no request: it leads to a place of the page, or is the icon.
func isOfPage(link string) bool { return strings.HasPrefix(link, "#") || link == icon }
