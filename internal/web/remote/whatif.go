package remote

import (
	"context"
	"net/url"

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

// WhatIfs implements web.WhatIfSource: those of one master.
func (s *Source) WhatIfs(ctx context.Context) (web.Answer[[]apidoc.WhatIfRun], error) {
	return call[[]apidoc.WhatIfRun](ctx, s, request{path: path(nil, "whatif"), patience: s.cfg.Patience})
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
