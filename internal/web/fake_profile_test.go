package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	pprofile "github.com/google/pprof/profile"

	"github.com/hammr/hammr/internal/profile"
)

// Profile returns a profile in which main calls a function that has the name of everything, which calls
// itself and sort. Attempts that have ended are refused.
func (f *fakeSource) Profile(_ context.Context, q ProfileQuery) (d ProfileData, err error) {
	switch {
	case f.err != nil:
		return d, f.err
	case q.ID == anOver:
		return d, fmt.Errorf("attempt %s is over: %w", q.ID, ErrRefused)
	}
	f.acted = append(f.acted, Action{Do: q.Object + ".profile", ID: q.ID, Value: q.Kind})
	name := f.jobs[0].Name
	if q.Kind == profile.Stacks {
		return ProfileData{Bytes: fmt.Appendf(nil, "goroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\n\ngoroutine 7 [%s, 5 minutes]:\nmain.wait(0x1)\n\t/src/wait.go:3 +0x1d\n\ngoroutine 8 [%[1]s]:\nmain.wait(0x2)\n\t/src/wait.go:3 +0x2\n", name)}, nil
	}
	var p pprofile.Profile
	for i, function := range []string{"main.main", name, "sort.Strings"} {
		fn := &pprofile.Function{ID: uint64(i + 1), Name: function}
		p.Function = append(p.Function, fn)
		p.Location = append(p.Location, &pprofile.Location{ID: fn.ID, Line: []pprofile.Line{{Function: fn, Line: 3}}})
	}
	p.SampleType = []*pprofile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
	at := func(places ...int) (list []*pprofile.Location) {
		for _, i := range places {
			list = append(list, p.Location[i])
		}
		return list
	}
	p.Sample = []*pprofile.Sample{{Location: at(0), Value: []int64{10, 100e6}}, {Location: at(1, 1, 0), Value: []int64{30, 300e6}}, {Location: at(2, 1, 1, 0), Value: []int64{60, 600e6}}}
	var out bytes.Buffer
	err = p.Write(&out)
	return ProfileData{out.Bytes(), name}, err
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
