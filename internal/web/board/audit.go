package board

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/jobmaster/board"
)

// Audit implements web.Source. More actions on a job are known than on the cluster.
func (s *Source) Audit(_ context.Context, q web.AuditQuery) (web.Answer[apidoc.Audit], error) {
	now := s.cfg.Board.Snapshot()
	actions := now.Actions
	if _, j, err := s.inState(q.Job); err == nil {
		actions = j.Actions
	}
	doc := apidoc.Audit{Since: cmp.Or(now.Since, now.At.UnixMilli()), Actions: []apidoc.UserAction{}}
	for _, a := range slices.Backward(actions) {
		if u := userAction(a); q.Has(&u) {
			doc.Actions = append(doc.Actions, u)
		}
	}
	return answer(s, doc, now.At, nil), nil
}

func userAction(a board.Action) apidoc.UserAction {
	if n, err := strconv.Atoi(a.To); a.Do == "job.priority" && err == nil {
		a.To = web.Priorities[2-min(max(n, -2), 2)]
	}
	return apidoc.UserAction{Time: a.At, User: a.By, Do: a.Do, ID: a.ID, To: a.To}
}
