package board

import (
	"cmp"
	"context"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/jobmaster/history"
)

// Audit implements web.Source. More actions on a job are known than on the cluster, and those on a job
// that is gone are in its history.
func (s *Source) Audit(ctx context.Context, q web.AuditQuery) (web.Answer[apidoc.Audit], error) {
	now := s.cfg.Board.Snapshot()
	actions := now.Actions
	switch _, j, err := s.inState(q.Job); {
	case err == nil:
		actions = j.Actions
	case q.Job != "":
		if past, err := s.cfg.Past.Audit(ctx, q); err == nil {
			return past, nil
		}
	}
	return answer(s, q.Select(history.ActionsOf(actions), cmp.Or(now.Since, now.At.UnixMilli())), now.At, nil), nil
}
