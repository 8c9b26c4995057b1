package leader

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/answers"
	"github.com/hammr/hammr/internal/wire"
)

// Scheduler is the cluster's scheduler as the source asks it. The methods are those of remote.Client.
type Scheduler interface {
	ChangePolicy(ctx context.Context, q *wire.SetPolicyRequest) error
	PreviewPolicy(ctx context.Context, q *wire.SetPolicyRequest) (*wire.PolicyPreview, error)
	Decisions(ctx context.Context, q *wire.ListDecisionsRequest) (*wire.ListDecisionsResponse, error)
}

// PreviewPolicy implements web.Source.
func (s *Source) PreviewPolicy(ctx context.Context, c web.PolicyChange) (web.Answer[apidoc.PolicyPreview], error) {
	return answers.Ask(ctx, s.answers, fmt.Sprintf("preview %q %q", c.Policy, c.Conf), func(ctx context.Context) (apidoc.PolicyPreview, time.Duration, error) {
		p, err := s.client.PreviewPolicy(ctx, &wire.SetPolicyRequest{Name: c.Policy, Conf: c.Conf})
		if err != nil {
			return apidoc.PolicyPreview{}, 0, classify(err)
		}
		return apidoc.PreviewOf(c.Policy, c.Conf, p), s.cfg.Age, nil
	})
}

// SetPolicy implements web.Source. Later questions are asked again, also after a refusal: the caller
// wants to see the policy that another user has set.
func (s *Source) SetPolicy(ctx context.Context, c web.PolicyChange) (apidoc.Change, error) {
	err := s.client.ChangePolicy(ctx, &wire.SetPolicyRequest{Name: c.Policy, Conf: c.Conf, Expected: c.Expected, By: c.User})
	s.answers.Expire()
	return apidoc.Change{ID: c.Policy, Done: "chosen"}, classify(err)
}

// Decisions implements web.Source.
func (s *Source) Decisions(ctx context.Context, q web.DecisionQuery) (web.Answer[apidoc.Decisions], error) {
	return answers.Ask(ctx, s.answers, fmt.Sprintf("decisions %+v", q), func(ctx context.Context) (apidoc.Decisions, time.Duration, error) {
		list, err := s.client.Decisions(ctx, &wire.ListDecisionsRequest{
			Job: q.Job, Pool: q.Pool, Machine: q.Node, Kind: q.Kind, Before: q.Before, Limit: int32(q.Limit),
		})
		if err != nil {
			return apidoc.Decisions{}, 0, classify(err)
		}
		doc, err := apidoc.DecisionsOf(list)
		return fetched(s, doc, err)
	})
}
