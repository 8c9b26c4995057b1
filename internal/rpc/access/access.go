package access

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// Anonymous is the name of a caller that has not signed in.
const Anonymous = "anonymous"

// Caller is who sends a request. The zero Caller may do nothing.
type Caller struct {
	// Name is what the caller claims, for the audit log: nothing proves it, because all holders of
	// the token share one secret. It is Anonymous for a caller without the token.
	Name string
	// Token is whether the caller has shown the cluster's token, or the cluster has none.
	Token bool
	// Reader is whether the caller may read without the token; see Config.AnonymousReaders.
	Reader bool
	// Profiler is whether the caller may take profiles without the token; see Config.AnonymousProfiles.
	Profiler bool
}

// Verb is what a caller does. Each route of the pages, of the API and of the streams has one verb.
type Verb string

const (
	View      Verb = "view"    // states, figures, redacted configuration, histories, decisions
	ReadLog   Verb = "log"     // what tasks have printed: it is the data of users
	ChangeJob Verb = "job"     // submit, kill, suspend, resume, move, set the priority, preempt
	Operate   Verb = "operate" // tasknodes, pools, policies, masters
	Profile   Verb = "profile" // profiles and stacks of daemons and attempts: they reveal memory and take time
)

// verbs has a word for the error of each verb.
var verbs = map[Verb]string{
	View: "see", ReadLog: "read the log of", ChangeJob: "change", Operate: "operate", Profile: "take or see a profile of",
}

// Changes reports whether a verb changes the cluster. Such a request is audited, and its method is
// never GET.
func (v Verb) Changes() bool { return v == ChangeJob || v == Operate }

// Object is what a caller does something to.
type Object struct {
	Kind string // job, task, attempt, node, pool, policy, master, profile, history, cluster
	ID   string // "" for all of the kind
}

// String returns the object as errors show it: "job job_1763700000000_0007", or "jobs" for all.
func (o Object) String() string {
	switch {
	case o.Kind == "":
		return "the cluster"
	case o.ID == "" && o.Kind == "cluster":
		return "the cluster"
	case o.ID == "" && o.Kind == "history":
		return "histories"
	case o.ID == "" && o.Kind == "policy":
		return "policies"
	case o.ID == "":
		return o.Kind + "s"
	}
	return o.Kind + " " + o.ID
}

// May returns nil if a caller may do something to an object, else a *Refusal. It is the only place
// that decides this: every page, call, stream, log and file for download asks it.
//
// The holder of the cluster's token may do everything. A reader may view, and a profiler may take
// profiles. Status 401 says that the
// token would help, status 403 that it would not.
func May(c Caller, v Verb, o Object) error {
	verb, known := verbs[v]
	switch {
	case !known:
		return &Refusal{Status: http.StatusForbidden, Text: fmt.Sprintf("verb %q: none of %v; the route of this request must declare one", v, knownVerbs())}
	case c.Token, c.Reader && v == View, c.Profiler && v == Profile:
		return nil
	}
	return &Refusal{Status: http.StatusUnauthorized, Text: fmt.Sprintf("to %s %v needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN", verb, o)}
}

func knownVerbs() (list []Verb) {
	for v := range verbs {
		list = append(list, v)
	}
	slices.Sort(list)
	return list
}

// request is what the gate knows of a request.
type request struct {
	caller Caller
	from   string // address of the client, for the audit log
	secure bool   // the browser uses TLS
	passed bool   // through Gate.Handler; false for any other context
	slot   *slot  // of the session; nil for assets
}

// requestKey is the key of a request in a context.
type requestKey struct{}

// Keep keeps the slot of a request beyond the end of its handler, which has taken over the connection. The
// caller calls leave when the connection is closed.
func Keep(ctx context.Context) (leave func()) {
	s := requestOf(ctx).slot
	if s == nil {
		return func() {}
	}
	s.kept = true
	return s.leave
}

// CallerOf returns the caller of a request, by the context that Gate.Handler has made. For any
// other context it returns the zero Caller.
func CallerOf(ctx context.Context) Caller { return requestOf(ctx).caller }

// ClientOf returns the address of the client of a request, "" for a context that Gate.Handler has not
// made.
func ClientOf(ctx context.Context) string { return requestOf(ctx).from }

func requestOf(ctx context.Context) request {
	r, _ := ctx.Value(requestKey{}).(request)
	return r
}
