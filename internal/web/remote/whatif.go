package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
)

// StartWhatIf implements web.WhatIfSource. The master that answers adds the settings of the policy.
func (s *Source) StartWhatIf(ctx context.Context, q web.WhatIfQuery) (apidoc.WhatIfRun, error) {
	form := url.Values{}
	for name, value := range q.Params {
		form.Set(name, value)
	}
	a, err := call[apidoc.WhatIfRun](ctx, s, request{path: path(nil, "whatif"), form: form, user: q.User, patience: logPatience})
	return a.Value, err
}

// WhatIfs implements web.WhatIfSource: those of all masters, each of which has only its own. If some
// masters do not answer, the answer is stale. If none does, the error is a refusal, if there is one.
func (s *Source) WhatIfs(ctx context.Context) (all web.Answer[[]apidoc.WhatIfRun], err error) {
	masters := s.order()
	lists, errs := make([]web.Answer[[]apidoc.WhatIfRun], len(masters)), make([]error, len(masters))
	var asked sync.WaitGroup
	for i, address := range masters {
		asked.Go(func() {
			lists[i], errs[i] = try[[]apidoc.WhatIfRun](ctx, s, address, request{path: path(nil, "whatif"), patience: s.cfg.Patience})
		})
	}
	asked.Wait()
	all.Value = []apidoc.WhatIfRun{}
	var missing []error
	for i, list := range lists {
		if errs[i] != nil {
			missing = append(missing, fmt.Errorf("%s: %w", masters[i], errs[i]))
			if answered, ok := errors.AsType[*apiError](errs[i]); ok && answered.class != web.ErrUnavailable {
				err = cmp.Or(err, error(answered))
			}
			continue
		}
		if all.At.IsZero() || list.At.Before(all.At) {
			all.At = list.At
		}
		all.Value = append(all.Value, list.Value...)
	}
	switch {
	case len(missing) == len(masters):
		return all, cmp.Or(err, noMaster(missing))
	case len(missing) > 0:
		all.Stale = fmt.Errorf("the simulations of some masters are missing: %w", errors.Join(missing...))
	}
	slices.SortFunc(all.Value, func(a, b apidoc.WhatIfRun) int { // the newest first
		return cmp.Or(cmp.Compare(b.Started, a.Started), cmp.Compare(a.ID, b.ID))
	})
	all.Value = slices.CompactFunc(all.Value, func(a, b apidoc.WhatIfRun) bool { return a.ID == b.ID }) // of a master at two addresses
	return all, nil
}

// WhatIf implements web.WhatIfSource. It asks for the one master that has the simulation.
func (s *Source) WhatIf(ctx context.Context, id string) (web.Answer[apidoc.WhatIfRun], error) {
	return call[apidoc.WhatIfRun](ctx, s, request{path: path(nil, "whatif", id), patience: s.cfg.Patience, anywhere: true})
}

// CancelWhatIf implements web.WhatIfSource.
func (s *Source) CancelWhatIf(ctx context.Context, id, user string) (apidoc.WhatIfRun, error) {
	a, err := call[apidoc.WhatIfRun](ctx, s, request{path: path(nil, "whatif", id, "cancel"), form: url.Values{}, user: user, patience: logPatience, anywhere: true})
	return a.Value, err
}
