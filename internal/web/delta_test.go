package web

import (
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/webtest"
)

// TestDeltasLeadToTheNewText edits random texts, and applies the deltas as a browser does.
func TestDeltasLeadToTheNewText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"td>1", "td>2", "/td>", "p class=\"a\">größer\n", "", "tr>\u2028"})
		texts := rapid.SliceOfN(piece, 0, 60)
		old := texts.Draw(t, "old")
		now := append([]string{}, old...)
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			at := rapid.IntRange(0, len(now)).Draw(t, "at")
			end := min(len(now), at+rapid.IntRange(0, 3).Draw(t, "removed"))
			now = append(append(append([]string{}, now[:at]...), rapid.SliceOfN(piece, 0, 3).Draw(t, "added")...), now[end:]...)
		}
		same := strings.Repeat("li>the same<", 200) // a delta is shorter than the text
		before, after := same+strings.Join(old, "<"), same+strings.Join(now, "<")
		delta := deltaOf(before, after)
		if got, err := webtest.Patched(before, []byte(delta)); err != nil || got != after {
			t.Fatalf("%q and %s: %q, %v, want %q", before, delta, got, err, after)
		}
	})
}

// TestDeltasAreSmall changes a few pieces of a long text.
func TestDeltasAreSmall(t *testing.T) {
	row := "<tr><td>task</td><td>RUNNING</td></tr>"
	old := strings.Repeat(row, 500)
	now := strings.Replace(old, "RUNNING", "SUCCEEDED", 1) + "<p>end"
	if delta := deltaOf(old, now); delta != `[[4,1,"td>SUCCEEDED"],[3001,0,"p>end"]]`+"\n" {
		t.Errorf("delta %.300s", delta)
	}
	if delta := deltaOf(old, "<p>other"); delta != "" {
		t.Errorf("a delta that is longer than the text: %.300s", delta)
	}
	if delta := deltaOf(row+old, old); len(delta) > 20 || delta == "" {
		t.Errorf("a row less: delta %.300s", delta)
	}
	if delta := deltaOf(old, strings.Repeat("<b>", 20_000)); delta != "" {
		t.Errorf("a delta of nothing in common: %.300s", delta)
	}
}

// TestBrowsersGetDeltas asks for a fragment after changes, with the version that the browser has.
func TestBrowsersGetDeltas(t *testing.T) {
	_, front, change := watchedJobs(t)
	first := fragmentOf(front, "/jobs", "A-IM", deltaEncoding)
	text, tag := first.Body.String(), first.Header().Get("ETag")
	for range 3 {
		change()
		answer := fragmentOf(front, "/jobs", "A-IM", deltaEncoding, "If-None-Match", tag)
		if answer.Code != http.StatusIMUsed || answer.Header().Get("IM") != deltaEncoding || answer.Header().Get("Delta-Base") != tag {
			t.Fatalf("status %d, headers %v", answer.Code, answer.Header())
		}
		whole := fragmentOf(front, "/jobs")
		got, err := webtest.Patched(text, answer.Body.Bytes())
		if err != nil || got != whole.Body.String() || got == text {
			t.Fatalf("patched to %.2000s\nwant %.2000s, error %v", got, whole.Body, err)
		}
		if answer.Body.Len() > whole.Body.Len()/4 {
			t.Errorf("a delta of %d bytes for a text of %d", answer.Body.Len(), whole.Body.Len())
		}
		old := tag
		text, tag = got, answer.Header().Get("ETag")
		if again := fragmentOf(front, "/jobs", "A-IM", deltaEncoding, "If-None-Match", tag); again.Code != http.StatusNotModified {
			t.Errorf("with the present version: status %d", again.Code)
		}
		for _, headers := range [][]string{{"If-None-Match", old}, {"A-IM", deltaEncoding, "If-None-Match", `"another"`}, {"A-IM", deltaEncoding}, {"A-IM", "gdiff", "If-None-Match", old}} {
			if w := fragmentOf(front, "/jobs", headers...); w.Code != http.StatusOK || w.Body.String() != text {
				t.Errorf("%q: status %d", headers, w.Code)
			}
		}
	}
}

// TestPartsOfFragments follows the page of a job whose state, forms and pools change. Each version is the same
// as from a server that has rendered no version before.
func TestPartsOfFragments(t *testing.T) {
	s, front, change := watchedJobs(t)
	path := "/jobs/" + aJob
	seen := make(map[string]bool)
	for _, step := range []func(){
		func() {},
		func() { s.suspended.Store(true) },
		func() { s.pools = append(s.pools, apidoc.Queue{Name: "new", State: "RUNNING"}) },
		func() {},
		func() { s.suspended.Store(false) },
		func() { s.pools = nil },
	} {
		step()
		change()
		got, want := fragmentOf(front, path).Body.String(), fragmentOf(s.handler(t), path).Body.String()
		if got != want {
			t.Errorf("another page than without a version before:\n%s\nwant:\n%s", got, want)
		}
		seen[got] = true
		if can, want := strings.Contains(got, path+"/resume"), s.suspended.Load(); can != want {
			t.Errorf("offers to resume: %t, want %t", can, want)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d versions, want 6", len(seen))
	}
}
