package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/access"
)

// simulator is a master with one simulation.
type simulator struct {
	*fakeSource
	id      string
	started web.WhatIfQuery
	list    []apidoc.WhatIfRun
	refused error // of the list
}

func (s *simulator) Policy(context.Context) (web.Answer[apidoc.Policy], error) {
	return web.Answer[apidoc.Policy]{Value: apidoc.Policy{Policy: "fair", Conf: map[string]string{"w": "2"}}, At: time.Now(), Stale: errors.New("old")}, nil
}

func (s *simulator) StartWhatIf(_ context.Context, q web.WhatIfQuery) (apidoc.WhatIfRun, error) {
	if s.started.Params != nil {
		return apidoc.WhatIfRun{}, &access.Refusal{Status: http.StatusTooManyRequests, Text: "ann runs one", RetryAfter: 7 * time.Second}
	}
	s.started = q
	return apidoc.WhatIfRun{ID: s.id, State: apidoc.WhatIfRunning}, nil
}

func (s *simulator) WhatIfs(context.Context) (web.Answer[[]apidoc.WhatIfRun], error) {
	return web.Answer[[]apidoc.WhatIfRun]{Value: s.list, At: time.Now()}, s.refused
}

func (s *simulator) WhatIf(_ context.Context, id string) (a web.Answer[apidoc.WhatIfRun], err error) {
	if id != s.id {
		return a, fmt.Errorf("no what-if simulation %q: %w", id, web.ErrUnknown)
	}
	return web.Answer[apidoc.WhatIfRun]{Value: apidoc.WhatIfRun{ID: id, State: apidoc.WhatIfDone, Result: &apidoc.WhatIf{History: id}}, At: time.Now()}, nil
}

func (s *simulator) CancelWhatIf(ctx context.Context, id, _ string) (apidoc.WhatIfRun, error) {
	a, err := s.WhatIf(ctx, id)
	return a.Value, err
}

// TestWhatIfOfOneMaster starts a simulation at one of two masters, and finds that of the other one.
func TestWhatIfOfOneMaster(t *testing.T) {
	a, b := &simulator{fakeSource: newFake(), id: "a"}, &simulator{fakeSource: newFake(), id: "b"}
	s, ctx := newSource(t, serveSource(t, a), serveSource(t, b)), t.Context()
	params := map[string]string{"policy": "fair,hfsp", "nodes": "7"}
	run, err := s.StartWhatIf(ctx, web.WhatIfQuery{Params: params, Settings: map[string]string{"fair:w": "not sent"}})
	if err != nil || run.ID != "a" || !maps.Equal(a.started.Params, params) || a.started.Settings["fair:w"] != "2" || b.started.Params != nil {
		t.Errorf("%+v, %v: started %+v and %+v", run, err, a.started, b.started)
	}
	_, err = s.StartWhatIf(ctx, web.WhatIfQuery{Params: params})
	if refusal, ok := errors.AsType[*access.Refusal](err); !ok || refusal.Status != http.StatusTooManyRequests || refusal.RetryAfter != 7*time.Second || err.Error() != "ann runs one" || b.started.Params != nil {
		t.Errorf("while one runs: %v", err)
	}
	for _, id := range []string{"b", "a"} {
		got, err := s.WhatIf(ctx, id)
		ended, err2 := s.CancelWhatIf(ctx, id, "ann")
		if err := errors.Join(err, err2); err != nil || got.Value.Result.History != id || ended.ID != id {
			t.Errorf("%s: %+v, %+v, %v", id, got, ended, err)
		}
	}
	if _, err := s.WhatIf(ctx, "c"); !errors.Is(err, web.ErrUnknown) {
		t.Errorf("an unknown one: %v", err)
	}
}

// TestWhatIfsOfAllMasters lists the simulations of two masters, of which one is known by two addresses.
// Then one refuses, one ends, and both do.
func TestWhatIfsOfAllMasters(t *testing.T) {
	run := func(id string, started int64) apidoc.WhatIfRun { return apidoc.WhatIfRun{ID: id, Started: started} }
	a := &simulator{fakeSource: newFake(), list: []apidoc.WhatIfRun{run("a2", 50), run("a1", 10)}}
	b := &simulator{fakeSource: newFake(), list: []apidoc.WhatIfRun{run("b3", 70), run("b2", 50), run("b1", 40)}}
	serverA, serverB := serveSource(t, a), serveSource(t, b)
	s := newSource(t, serverA, serverB, serverA)
	check := func(what, want string) web.Answer[[]apidoc.WhatIfRun] {
		t.Helper()
		list, err := s.WhatIfs(t.Context())
		ids := make([]string, 0, len(list.Value))
		for _, each := range list.Value {
			ids = append(ids, each.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != want || list.Value == nil || !list.At.Equal(now()) {
			t.Errorf("%s: %q as of %v, %v, want %q", what, got, list.At, err, want)
		}
		return list
	}
	if list := check("both answer", "b3 a2 b2 b1 a1"); list.Stale != nil {
		t.Errorf("both answer: %v", list.Stale)
	}
	b.refused = fmt.Errorf("no histories: %w", web.ErrRefused)
	address := strings.TrimPrefix(serverB.URL, "http://")
	if list := check("one refuses", "a2 a1"); list.Stale == nil || !strings.Contains(list.Stale.Error(), address+": no histories") {
		t.Errorf("one refuses: %v", list.Stale)
	}
	serverB.Close()
	if list := check("one has ended", "a2 a1"); list.Stale == nil || !strings.Contains(list.Stale.Error(), address) || strings.Contains(list.Stale.Error(), strings.TrimPrefix(serverA.URL, "http://")) {
		t.Errorf("one has ended: %v", list.Stale)
	}
	a.list = nil
	check("the other one has none", "")
	a.refused = fmt.Errorf("no histories: %w", web.ErrRefused)
	if _, err := s.WhatIfs(t.Context()); !errors.Is(err, web.ErrRefused) || err.Error() != a.refused.Error() {
		t.Errorf("one has ended, and one refuses: %v", err)
	}
	serverA.Close()
	if _, err := s.WhatIfs(t.Context()); !errors.Is(err, web.ErrUnavailable) || !strings.Contains(err.Error(), address) {
		t.Errorf("both have ended: %v", err)
	}
}
