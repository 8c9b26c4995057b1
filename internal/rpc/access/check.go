package access

import (
	"context"
	"errors"
	"net/http"

	"github.com/hammr/hammr/internal/rpc/audit"
)

// Check returns nil if the caller of a request may do something to an object, else a *Refusal; see
// May. A change, and a read of a log or a profile, is in the audit log with the result allowed or refused;
// of repeated reads, one in a minute. Use Do where the change is made by a call, which is in the audit log
// itself.
func (g *Gate) Check(ctx context.Context, v Verb, o Object) error {
	err := May(CallerOf(ctx), v, o)
	if !v.Changes() && v != ReadLog && v != Profile {
		return err
	}
	r := requestOf(ctx)
	record := Record{Who: r.caller.Name, From: r.from, Call: string(v), Object: o.audited(), Err: err}
	if err == nil {
		record.Result = audit.Allowed
	}
	if v.Changes() || g.reads.First(&record, g.cfg.Now()) {
		g.audit(r, record)
	}
	return err
}

// Action is a change that a caller orders.
type Action struct {
	Verb   Verb
	Object Object
	Call   string // its name in the audit log, as of the call that does the same: Kill, MoveJob
	Detail string // to what the object is changed, for the audit log; "" for nothing to say
	Unseen bool   // no master sees a call, so Do always writes the record
}

// Do makes a change if the caller of a request may make it. It returns a *Refusal, or the error of
// change. The call that makes the change is in the audit log of the master that answers it, with the
// name of the caller, so Do writes no second record. It writes one if no master may have seen a call:
// the caller was refused, the result is unknown, or Unseen is set.
func (g *Gate) Do(ctx context.Context, a Action, change func() error) error {
	err := May(CallerOf(ctx), a.Verb, a.Object)
	if err == nil {
		err = change()
	}
	if _, refused := errors.AsType[*Refusal](err); refused || a.Unseen || err != nil && audit.ResultOf(err) == "unknown" {
		g.audit(requestOf(ctx), Record{Call: a.Call, Object: a.Object.audited(), Detail: a.Detail, Err: err})
	}
	return err
}

// audited returns the object as the audit log shows it: as a call would name it.
func (o Object) audited() string {
	if o.ID == "" {
		return o.Kind
	}
	return o.ID
}

// audit writes a record about a request. Records about callers without the token are throttled,
// because these callers could fill the log.
func (g *Gate) audit(r request, record Record) {
	record.Who, record.From = r.caller.Name, r.from
	if !r.caller.Token {
		var ok bool
		if record.Skipped, ok = g.strangers.Allow(); !ok {
			return
		}
	}
	g.cfg.Audit(record)
}

// refusalOf returns the refusal in an error.
func refusalOf(err error) *Refusal {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	return &Refusal{Status: http.StatusInternalServerError, Text: "internal error; the log of this master has it"}
}
