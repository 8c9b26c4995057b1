package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
)

var noticeText = regexp.MustCompile(`<p class="notice" id="done"[^>]*>([^<]*)</p>`)

// noticeOn returns the notice on a page that a browser with cookies loads.
func noticeOn(h http.Handler, page string, cookies []*http.Cookie) string {
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+page, nil)
	r.Header.Set("Authorization", "Bearer "+aToken)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if found := noticeText.FindStringSubmatch(w.Body.String()); w.Code == http.StatusOK && found != nil {
		return found[1]
	}
	return w.Result().Status
}

// TestNoticesFollowActions shows a notice after an action, once, and never because of a link.
func TestNoticesFollowActions(t *testing.T) {
	h, page := newHandler(t, newFake("wordcount")), "/jobs/"+aJob
	w := request(h, page+"/kill", url.Values{})
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Path != page || !cookies[0].HttpOnly || cookies[0].MaxAge != noticeSeconds {
		t.Fatalf("cookies after an action: %v", cookies)
	}
	if text := noticeOn(h, page, cookies); text != "The job is killed." {
		t.Errorf("notice after the action: %q", text)
	}
	if text := noticeOn(h, page, nil); text != "" {
		t.Errorf("notice without the cookie: %q", text)
	}
	if text := noticeOn(h, page, []*http.Cookie{{Name: noticeCookie, Value: "job.paid"}}); text != "" {
		t.Errorf("notice of an unknown action: %q", text)
	}
	if w := request(h, page+"?done=job.kill", nil); w.Code != http.StatusBadRequest {
		t.Errorf("a link with an action: status %d", w.Code)
	}
}
