package jobmaster

import (
	"context"
	"reflect"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// change is a command that a user requests, with a function that reports whether its effect
// is reached. The request waits for the effect, because another command may already have had
// the same effect.
type change struct {
	command cluster.Command // nil if nothing must change
	applied func() bool
}

// pendingChange is a change whose command is on its way through the log.
//
//	change ──► plan ──► pending ──► applied reports true: nil
//	             │         ├──────► the command was refused: its error
//	             │         └──────► the lead ended: ErrNotLeader, and the change may come later
//	             └──► refused, or nothing to change: answered at once
type pendingChange struct {
	change
	answer chan<- result[struct{}]
}

type changeRequest struct {
	plan   func() (change, error)
	by     string // user who asks for it; "" for none
	answer chan<- result[struct{}]
}

type userKey struct{}

// WithUser returns a context whose changes are those of a user. The log has the name with each change.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

// UserOf returns the user whose changes those of a context are, "" for none.
func UserOf(ctx context.Context) string {
	name, _ := ctx.Value(userKey{}).(string)
	return name
}

// change requests the change that plan returns and waits until it is applied. plan runs in
// the loop, so it may read the state.
//
// If the result is nil, the change is committed: it is not lost with this master.
func (m *Master) change(ctx context.Context, plan func() (change, error)) error {
	answer := make(chan result[struct{}], 1)
	_, err := call(ctx, m, &changeRequest{plan, UserOf(ctx), answer}, answer)
	return err
}

func (q *changeRequest) refuse(err error) { q.answer <- result[struct{}]{err: err} }

func (q *changeRequest) handle(m *Master) {
	c, err := q.plan()
	if err != nil || c.command == nil {
		q.answer <- result[struct{}]{err: err}
		return
	}
	pool, user := "", ""
	if move, ok := c.command.(cluster.SetPool); ok {
		pool, user = move.Pool, m.view.Job(move.Job).Spec.User
	}
	m.requestIn(pool, user, control.Requested{Command: c.command, By: q.by})
	m.changes = append(m.changes, pendingChange{c, q.answer})
}

// answerChanges answers the requests whose change has been applied. It runs after each step
// and checks all changes, because there are few at a time.
func (m *Master) answerChanges() {
	m.changes = slices.DeleteFunc(m.changes, func(c pendingChange) bool {
		applied := c.applied()
		if applied {
			c.answer <- result[struct{}]{}
		}
		return applied
	})
}

// refuseChanges answers the requests whose command was refused when it was applied, because
// another command was applied first.
//
// Commands have no ids, so equal commands cannot be distinguished. All requests for equal
// commands get the same answer.
func (m *Master) refuseChanges(command cluster.Command, why error) {
	m.changes = slices.DeleteFunc(m.changes, func(c pendingChange) bool {
		if c.applied() || !reflect.DeepEqual(c.command, command) {
			return false
		}
		c.answer <- result[struct{}]{err: why}
		return true
	})
}
