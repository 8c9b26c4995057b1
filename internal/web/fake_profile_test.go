package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/logs/profile"
)

// Profile returns stacks with the name of everything, or a file. Attempts that have ended are refused.
func (f *fakeSource) Profile(_ context.Context, q docs.ProfileQuery) (d docs.ProfileData, err error) {
	switch {
	case f.err != nil:
		return d, f.err
	case q.ID == anOver:
		return d, fmt.Errorf("attempt %s is over: %w", q.ID, docs.ErrRefused)
	}
	f.acted = append(f.acted, docs.Change{Do: q.Object + ".profile", ID: q.ID, Value: q.Kind})
	name := f.jobs[0].Name
	if q.Kind == profile.Stacks {
		return docs.ProfileData{Bytes: fmt.Appendf(nil, "goroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\n\ngoroutine 7 [%s, 5 minutes]:\nmain.wait(0x1)\n\t/src/wait.go:3 +0x1d\n\ngoroutine 8 [%[1]s]:\nmain.wait(0x2)\n\t/src/wait.go:3 +0x2\n", name)}, nil
	}
	return docs.ProfileData{Bytes: []byte("a profile"), Note: name}, nil
}

// takeProfile takes a profile on a page, so that known has the id of one.
func takeProfile(t testing.TB, h http.Handler, f *fakeSource) {
	t.Helper()
	w := request(h, "/attempts/"+anOpen+"/profile", url.Values{"kind": {"cpu"}})
	id, isProfile := strings.CutPrefix(w.Header().Get("Location"), "/profiles/")
	if w.Code != http.StatusSeeOther || !isProfile {
		t.Fatalf("a profile: status %d, to %s: %s", w.Code, id, w.Body)
	}
	known["profile"], f.acted = id, nil
}
