package docs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// NodeID names a tasknode.
type NodeID struct {
	Node string `param:"node" doc:"name of a tasknode"`
}

// PoolID names a pool.
type PoolID struct {
	Pool string `param:"pool" doc:"name of a pool"`
}

// PoolQuery selects preemptions.
type PoolQuery struct {
	Pool string `param:"pool" doc:"only slots that were taken from this pool, or for it"` // "" for all
}

// SampleQuery selects samples of the cluster and of all pools.
type SampleQuery struct {
	From int64 `param:"from" doc:"first time, ms since 1970 (default 24 hours ago)"` // 0 for the default
	Step int64 `param:"step" max:"86400" default:"60" doc:"seconds of an interval"`  // rounded up to an interval that the master keeps
}

// PoolSampleQuery selects samples of a pool.
type PoolSampleQuery struct {
	Pool string `param:"pool" doc:"name of a pool"`
	SampleQuery
}

// LossQuery selects losses of tasknodes.
type LossQuery struct {
	Node string `param:"node" doc:"name of a tasknode"` // "" for all
}

// AuditQuery selects actions of users. Each field that is not "" must match.
type AuditQuery struct {
	Job    string `param:"job" doc:"id of a job"` // the job, or that of the attempt
	Node   string `param:"node" doc:"name of a tasknode"`
	Object string `param:"object" enum:"auditObjects" doc:"kind of the object"`
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
			(q.Job == "" || a.ID == q.Job || JobOf(a.ID) == q.Job) {
			doc.Actions = append(doc.Actions, a)
		}
	}
	return doc
}

// DecisionQuery selects decisions of the scheduler. Each field that is not zero must match.
type DecisionQuery struct {
	Job    string `param:"job" doc:"id of the job, or of the job that gets the slot"`
	Pool   string `param:"pool" doc:"pool of the job, or the pool that gets the slot"`
	Node   string `param:"node" doc:"tasknode of the slot"`
	Kind   string `param:"kind" enum:"decisions" doc:"kind of the decisions"`
	Before uint64 `param:"before" doc:"only decisions with a lower number"`
	Limit  int    `param:"limit" default:"50" max:"1000" doc:"rows of a page"`
}

// DecisionKinds are the kinds of decisions.
var DecisionKinds = []string{"launch", "resume", "preempt", "offer", "skip", "share"}

// Check refuses a job that is not the id of one.
func (q DecisionQuery) Check() error {
	if _, err := cluster.ParseJobID(q.Job); q.Job != "" && err != nil {
		return Bad("job", fmt.Sprintf("%.100q: expected the id of a job", q.Job))
	}
	return nil
}

// PolicyQuery is a policy with its settings.
type PolicyQuery struct {
	Policy string `param:"policy" doc:"name of a policy (default the present one)"`
	Conf   map[string]string
}

// Settings implements Configured.
func (q PolicyQuery) Settings() map[string]string { return q.Conf }

// WithSettings implements Configured.
func (q PolicyQuery) WithSettings(conf map[string]string) any { return PolicyQuery{q.Policy, conf} }

// NodeStates are the states of tasknodes.
var NodeStates = []string{"RUNNING", "UNHEALTHY", "SILENT", "LOST", "DECOMMISSIONING", "DECOMMISSIONED"}

// Documents of the cluster.
var (
	// Masters describes the masters. It does not need a leader.
	Masters = document[No, apidoc.Masters]("/masters", "master", "The masters.")
	// Nodes describes all tasknodes, lost ones too, sorted by name.
	Nodes = document[No, []apidoc.Tasknode]("/nodes", "node", "All tasknodes.")
	// Node describes a tasknode, with what its running attempts do.
	Node = derived(document[NodeID, apidoc.Tasknode]("/nodes/{node}", "node", "A tasknode."), nodeOf)
	// Losses has the latest losses of a tasknode, or of all.
	Losses = document[LossQuery, apidoc.Losses]("/losses", "node", "Tasknodes that were lost, and how their tasks recovered, the latest first.")
	// Pools describes the pools, sorted by name.
	Pools = document[No, []apidoc.Queue]("/pools", "pool", "All pools.")
	// Pool describes one pool.
	Pool = derived(document[PoolID, apidoc.Queue]("/pools/{pool}", "pool", "A pool."), poolOf)
	// Samples has samples of the use of slots of the last 24 hours: a series of the cluster, with the pool "",
	// and one of each pool.
	Samples = document[SampleQuery, apidoc.Samples]("/samples", "pool", "Use of slots of the cluster and of each pool over time.")
	// PoolSamples has the series of one pool.
	PoolSamples = document[PoolSampleQuery, apidoc.Samples]("/pools/{pool}/samples", "pool", "Use of slots of a pool over time.")
	// Preemptions has the preemptions from and for a pool, or all.
	Preemptions = document[PoolQuery, apidoc.PreemptionLedger]("/scheduler/preemptions", "pool", "Preemptions by mode, and between each two pools.")
	// Policy describes the scheduling policy.
	Policy = document[No, apidoc.Policy]("/scheduler", "policy", "The scheduling policy.")
	// Preview is what a policy would do now. It changes nothing.
	Preview = document[PolicyQuery, apidoc.PolicyPreview]("/scheduler/preview", "policy", "What a policy would do now.")
	// Decisions has the latest decisions of the leader that match.
	Decisions = document[DecisionQuery, apidoc.Decisions]("/scheduler/decisions", "policy", "The latest decisions of the scheduler, the latest first.")
	// Audit is what users have asked for.
	Audit = document[AuditQuery, apidoc.Audit]("/audit", "cluster", "What users have asked for, the latest first.")
)

// NodeColumns are the columns by which tasknodes can be sorted. The first identifies a tasknode.
var NodeColumns = []Column[apidoc.Tasknode]{
	{Name: "name", Heading: "Node", Text: func(n apidoc.Tasknode) string { return n.Name }},
	{Name: "state", Heading: "State", Text: func(n apidoc.Tasknode) string { return n.State }},
	{Name: "rack", Heading: "Rack", Text: func(n apidoc.Tasknode) string { return n.Rack }},
	{Name: "mapsRunning", Heading: "Map slots", Number: func(n apidoc.Tasknode) float64 { return float64(n.MapsRunning) }},
	{Name: "reducesRunning", Heading: "Reduce slots", Number: func(n apidoc.Tasknode) float64 { return float64(n.ReducesRunning) }},
	{Name: "load", Heading: "Load", Right: true, Number: func(n apidoc.Tasknode) float64 { return n.Load }},
	{Name: "memoryUsedMB", Heading: "Memory", Right: true, Number: func(n apidoc.Tasknode) float64 { return float64(n.MemoryUsedMB) }},
	{Name: "lastHeartbeat", Heading: "Last heartbeat", Number: func(n apidoc.Tasknode) float64 { return float64(n.LastHeartbeat) }},
}

// LiveNodes asks the leader for the tasknodes that are not lost.
func LiveNodes(ctx context.Context, c Caller) ([]apidoc.Tasknode, error) {
	nodes, err := Nodes.From(ctx, c, No{})
	return slices.DeleteFunc(nodes, func(n apidoc.Tasknode) bool { return n.Lost }), err
}

// nodeOf finds a tasknode among all.
func nodeOf(ctx context.Context, s Reader, q NodeID) (Answer[apidoc.Tasknode], error) {
	all, err := Nodes.Read(ctx, s, No{})
	return named(all, err, "tasknode", q.Node, func(n apidoc.Tasknode) string { return n.Name })
}

// poolOf finds a pool among all.
func poolOf(ctx context.Context, s Reader, q PoolID) (Answer[apidoc.Queue], error) {
	all, err := Pools.Read(ctx, s, No{})
	return named(all, err, "pool", q.Pool, func(p apidoc.Queue) string { return p.Name })
}

// named returns the element of an answer that has a name. kind is for the error if there is none.
func named[T any](all Answer[[]T], err error, kind, name string, nameOf func(T) string) (Answer[T], error) {
	one := Answer[T]{At: all.At, Stale: all.Stale}
	if err != nil {
		return one, err
	}
	i := slices.IndexFunc(all.Value, func(each T) bool { return nameOf(each) == name })
	if i < 0 {
		return one, fmt.Errorf("no %s %.200q: %w", kind, name, ErrUnknown)
	}
	one.Value = all.Value[i]
	return one, nil
}
