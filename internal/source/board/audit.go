package board

import (
	"cmp"
	"context"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// audit answers docs.Audit. More actions on a job are known than on the cluster, and those on a job
// that is gone are in its history.
func (s *Source) audit(ctx context.Context, q docs.AuditQuery) (docs.Answer[apidoc.Audit], error) {
	now := s.cfg.Board.Snapshot()
	actions := now.Actions
	switch _, j, err := s.inState(q.Job); {
	case err == nil:
		actions = j.Actions
	case q.Job != "":
		if past, err := docs.Audit.Read(ctx, s.cfg.Past, q); err == nil {
			return past, nil
		}
	}
	return answer(s, q.Select(actions, cmp.Or(now.Since, now.At.UnixMilli())), now.At, nil), nil
}
