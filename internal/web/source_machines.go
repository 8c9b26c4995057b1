package web

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
)

// MachineSource has what operators look at.
type MachineSource interface {
	// Node describes a tasknode, with what its running attempts do.
	Node(ctx context.Context, name string) (Answer[apidoc.Tasknode], error)
	// Audit returns what users have asked for.
	Audit(ctx context.Context, q AuditQuery) (Answer[apidoc.Audit], error)
}

// AuditQuery selects actions of users. Each field that is not "" must match.
type AuditQuery struct {
	Job    string // the job, or that of the attempt
	Node   string
	Object string // one of AuditObjects
}

// AuditObjects are the kinds of objects of actions.
var AuditObjects = []string{"job", "attempt", "node", "policy"}

// Select returns those of some actions, the latest last, that the query asks for. Earlier ones than
// since, in ms since the epoch, are not known.
func (q AuditQuery) Select(actions []apidoc.UserAction, since int64) apidoc.Audit {
	doc := apidoc.Audit{Since: since, Actions: []apidoc.UserAction{}}
	for _, a := range slices.Backward(actions) {
		object, _, _ := strings.Cut(a.Do, ".")
		if (q.Object == "" || q.Object == object) && (q.Node == "" || object == "node" && a.ID == q.Node) &&
			(q.Job == "" || a.ID == q.Job || jobOf(a.ID) == q.Job) {
			doc.Actions = append(doc.Actions, a)
		}
	}
	return doc
}

// NodeOf is MachineSource.Node for sources that have all tasknodes at hand.
func NodeOf(all Answer[[]apidoc.Tasknode], err error, name string) (Answer[apidoc.Tasknode], error) {
	one := Answer[apidoc.Tasknode]{At: all.At, Stale: all.Stale}
	i := slices.IndexFunc(all.Value, func(n apidoc.Tasknode) bool { return n.Name == name })
	if err == nil && i < 0 {
		err = fmt.Errorf("no tasknode %.200q: %w", name, ErrUnknown)
	}
	if err == nil {
		one.Value = all.Value[i]
	}
	return one, err
}

// auditOf returns the actions that a page shows; none if this server does not know them.
func (c *call) auditOf(q AuditQuery) apidoc.Audit {
	a, err := c.cfg.Source.Audit(c.ctx, q)
	if err != nil {
		return apidoc.Audit{}
	}
	return a.Value
}

func answerAudit(c *call) error {
	a, err := c.cfg.Source.Audit(c.ctx, AuditQuery{Job: c.params["job"], Node: c.params["node"], Object: c.params["object"]})
	return answer(c, a, err)
}
