package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
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
	return web.Answer[[]apidoc.WhatIfRun]{Value: []apidoc.WhatIfRun{{ID: s.id}}, At: time.Now()}, nil
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
	if list, err := s.WhatIfs(ctx); err != nil || len(list.Value) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
