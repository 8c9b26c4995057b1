package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/rpc/wire/wireconnect"
)

// callKind says what a call does. A test checks that each call of the services has an entry in
// callTable.
type callKind struct {
	changes bool // it changes the cluster, so it is audited
	// reads returns the id of what a call reads of a user's secrets, such as properties of a job; false
	// if this request reads none. nil for calls that never do. For a stream the request is nil. Such
	// reads are audited.
	reads   func(request any) (object string, audited bool)
	submits bool // it has the rate of submissions
	// object returns what the call changes, such as the id of a job, and how, "" if that is
	// clear. answer is nil if the call was refused. Calls that change nothing have no object.
	object func(request, answer any) (object, detail string)
	// call returns the name of a call that makes several kinds of changes; nil for the name of the procedure.
	call func(request any) string
}

// callTable has an entry for each call, by the path of its HTTP request.
var callTable = map[string]callKind{
	wireconnect.JobmasterGetInfoProcedure: {},
	wireconnect.JobmasterFollowProcedure:  {},
	wireconnect.JobmasterReadProcedure:    {reads: properties, call: func(any) string { return "GetJob" }},
	wireconnect.JobmasterBackupProcedure:  {reads: func(any) (string, bool) { return "state", true }},
	wireconnect.TasknodesAttendProcedure:  {}, // a tasknode's reports change the state, but no user asks for that

	wireconnect.JobmasterSubmitProcedure: {changes: true, submits: true, object: submission},
	wireconnect.JobmasterKillProcedure: changing(func(q *wire.KillRequest) (string, string) {
		return q.JobId, q.Cause
	}),
	wireconnect.JobmasterChangeProcedure: {changes: true, object: func(request, _ any) (string, string) {
		q := request.(*wire.ChangeRequest)
		return q.Id, detailOf(q)
	}, call: func(request any) string {
		if a := docs.ActionOf(request.(*wire.ChangeRequest).Do); a != nil {
			return a.Call
		}
		return "Change"
	}},
}

// detailOf says to what a change changes its object.
func detailOf(q *wire.ChangeRequest) string {
	_, verb, _ := strings.Cut(q.Do, ".")
	detail := verb + " " + q.Value
	if q.UntilRestart {
		detail += " until it restarts"
	}
	return strings.TrimSpace(strings.TrimSpace(detail) + " " + settings(q.Conf))
}

// changing describes a call that changes the cluster.
func changing[Q any](object func(*Q) (object, detail string)) callKind {
	return callKind{changes: true, object: func(request, _ any) (string, string) { return object(request.(*Q)) }}
}

// properties names the job of which a request gets all properties as they were set.
func properties(request any) (id string, audited bool) {
	e, query, err := docs.Find(request.(*wire.ReadRequest).Path)
	if err != nil || e != docs.Status.Entry {
		return "", false
	}
	return query.(docs.JobID).Job, true
}

// submission names a job by its id, which only the answer has, and by its name.
func submission(request, answer any) (id, detail string) {
	spec := request.(*wire.SubmitRequest).Spec
	if a, _ := answer.(*wire.SubmitResponse); a != nil {
		id = a.JobId
	}
	if spec == nil {
		return id, ""
	}
	return id, fmt.Sprintf("%q of user %q", spec.Name, spec.User)
}

// settings formats the settings of a policy.
func settings(conf map[string]string) string {
	var list []string
	for name, value := range conf {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
