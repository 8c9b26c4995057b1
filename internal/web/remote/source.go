package remote

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/answers"
	"github.com/hammr/hammr/sched/registry"
)

// Config configures a Source.
type Config struct {
	// RPC says which cluster to ask. Required.
	RPC rpc.Config
	// Transport sends the requests; default rpc.NewTransport(RPC).
	Transport http.RoundTripper
	// Status answers Hadoop's API. Required to serve it.
	Status web.StatusSource
	// Patience is how long a master may take before the next one is asked; default 2.5 s.
	Patience time.Duration
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	if c.Transport == nil {
		c.Transport = rpc.NewTransport(c.RPC)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Patience = cmp.Or(c.Patience, 2500*time.Millisecond)
}

const (
	// freshness is how long an answer is given to other readers too: less than the second in which
	// watchers ask again.
	freshness = 700 * time.Millisecond
	// logPatience is Config.Patience for a log, which a master may read in HDFS.
	logPatience = 12 * time.Second
	// profilePatience is Config.Patience for a profile, in addition to the time that it covers.
	profilePatience = 20 * time.Second
	maxAnswers      = 512
)

// Source implements web.Source. No goroutine outlives the call that starts it.
type Source struct {
	web.StatusSource
	cfg     Config
	client  *http.Client
	answers *answers.Cache

	mu struct {
		sync.Mutex
		masters []string // addresses; the first one has answered last
	}
}

var _ web.Source = (*Source)(nil)

// New returns a Source. It connects at the first question, to any of the masters.
func New(cfg Config) (*Source, error) {
	if err := cfg.RPC.Validate(); err != nil {
		return nil, err
	}
	cfg.EnsureDefaults()
	s := &Source{StatusSource: cfg.Status, cfg: cfg, client: &http.Client{Transport: cfg.Transport}, answers: answers.New(cfg.Now, maxAnswers)}
	s.mu.masters = slices.Clone(cfg.RPC.Masters)
	rand.Shuffle(len(s.mu.masters), func(i, j int) { s.mu.masters[i], s.mu.masters[j] = s.mu.masters[j], s.mu.masters[i] })
	return s, nil
}

// Close closes the connections. No question may be under way.
func (s *Source) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// order returns the masters in the order in which they are asked.
func (s *Source) order() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.masters)
}

// prefer makes a master the first one that is asked. It adds others that are not known yet.
func (s *Source) prefer(first string, others ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, address := range others {
		if !slices.Contains(s.mu.masters, address) {
			s.mu.masters = append(s.mu.masters, address)
		}
	}
	if i := slices.Index(s.mu.masters, first); i > 0 {
		s.mu.masters = slices.Insert(slices.Delete(s.mu.masters, i, i+1), 0, first)
	}
}

// path returns a path of the API, from its escaped parts and a query without its empty values.
func path(query url.Values, parts ...string) string {
	for name := range query {
		if query.Get(name) == "" {
			query.Del(name)
		}
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(rpc.APIRoot, "/"))
	for _, part := range parts {
		b.WriteString("/" + url.PathEscape(part))
	}
	if len(query) > 0 {
		b.WriteString("?" + query.Encode())
	}
	return b.String()
}

// withPage adds the parameters of a part of a list.
func withPage(query url.Values, p web.Page) url.Values {
	query.Set("sort", p.Sort)
	query.Set("cursor", p.Cursor)
	if p.Limit > 0 {
		query.Set("limit", strconv.Itoa(min(p.Limit, web.MaxLimit)))
	}
	return query
}

// Masters implements web.Source. It learns the addresses of masters.
func (s *Source) Masters(ctx context.Context) (web.Answer[apidoc.Masters], error) {
	a, err := get[apidoc.Masters](ctx, s, path(nil, "masters"))
	for _, m := range a.Value.Masters {
		s.prefer("", m.Address)
	}
	return a, err
}

// Jobs implements web.Source.
func (s *Source) Jobs(ctx context.Context, q web.JobQuery) (web.Answer[web.JobPage], error) {
	query := url.Values{"state": {strings.Join(q.States, ",")}, "user": {q.User}, "pool": {q.Pool}, "q": {q.Text}}
	return get[web.JobPage](ctx, s, path(withPage(query, q.Page), "jobs"))
}

// Job implements web.Source.
func (s *Source) Job(ctx context.Context, id string) (web.Answer[report.Report], error) {
	return get[report.Report](ctx, s, path(nil, "jobs", id))
}

// Tasks implements web.Source.
func (s *Source) Tasks(ctx context.Context, job string, q web.TaskQuery) (web.Answer[web.TaskPage], error) {
	query := url.Values{"state": {q.State}, "type": {q.Type}, "stage": {q.Stage}, "node": {q.Node}, "place": {q.Place}}
	if q.MinDuration > 0 {
		query.Set("minDuration", strconv.FormatInt(q.MinDuration, 10))
	}
	return get[web.TaskPage](ctx, s, path(withPage(query, q.Page), "jobs", job, "tasks"))
}

// Task implements web.Source.
func (s *Source) Task(ctx context.Context, job, task string) (web.Answer[report.Task], error) {
	return get[report.Task](ctx, s, path(nil, "jobs", job, "tasks", task))
}

// Events implements web.Source.
func (s *Source) Events(ctx context.Context, job string) (web.Answer[apidoc.Events], error) {
	return get[apidoc.Events](ctx, s, path(nil, "jobs", job, "events"))
}

// TaskEvents implements web.Source.
func (s *Source) TaskEvents(ctx context.Context, job, task string) (web.Answer[apidoc.Events], error) {
	return get[apidoc.Events](ctx, s, path(url.Values{"task": {task}}, "jobs", job, "events"))
}

// Columns implements web.Source.
func (s *Source) Columns(ctx context.Context, job string) (web.Answer[*apidoc.TaskColumns], error) {
	return get[*apidoc.TaskColumns](ctx, s, path(nil, "jobs", job, "columns"))
}

// TaskSummary implements web.Source.
func (s *Source) TaskSummary(ctx context.Context, job string, byNode bool) (web.Answer[[]web.TaskGroup], error) {
	by := ""
	if byNode {
		by = "node"
	}
	return get[[]web.TaskGroup](ctx, s, path(url.Values{"by": {by}}, "jobs", job, "tasks", "summary"))
}

// Configuration implements web.Source. Secrets are hidden already.
func (s *Source) Configuration(ctx context.Context, job string) (web.Answer[map[string]string], error) {
	return get[map[string]string](ctx, s, path(nil, "jobs", job, "configuration"))
}

// Explain implements web.Source.
func (s *Source) Explain(ctx context.Context, job, task string) (web.Answer[apidoc.Explanation], error) {
	return get[apidoc.Explanation](ctx, s, path(url.Values{"task": {task}}, "jobs", job, "explain"))
}

// Nodes implements web.Source.
func (s *Source) Nodes(ctx context.Context) (web.Answer[[]apidoc.Tasknode], error) {
	return get[[]apidoc.Tasknode](ctx, s, path(nil, "nodes"))
}

// Node implements web.Source.
func (s *Source) Node(ctx context.Context, name string) (web.Answer[apidoc.Tasknode], error) {
	return get[apidoc.Tasknode](ctx, s, path(nil, "nodes", name))
}

// Audit implements web.Source.
func (s *Source) Audit(ctx context.Context, q web.AuditQuery) (web.Answer[apidoc.Audit], error) {
	return get[apidoc.Audit](ctx, s, path(url.Values{"job": {q.Job}, "node": {q.Node}, "object": {q.Object}}, "audit"))
}

// Pools implements web.Source.
func (s *Source) Pools(ctx context.Context) (web.Answer[[]apidoc.Queue], error) {
	return get[[]apidoc.Queue](ctx, s, path(nil, "pools"))
}

// Policy implements web.Source.
func (s *Source) Policy(ctx context.Context) (web.Answer[apidoc.Policy], error) {
	return get[apidoc.Policy](ctx, s, path(nil, "scheduler"))
}

// Log implements web.Source.
func (s *Source) Log(ctx context.Context, attempt, stream string, r web.LogRange) (web.LogPart, error) {
	query := url.Values{"from": {strconv.FormatInt(r.From, 10)}}
	if r.Max > 0 {
		query.Set("max", strconv.FormatInt(min(r.Max, web.MaxLogBytes), 10))
	}
	a, err := call[web.LogPart](ctx, s, request{path: path(query, "attempts", attempt, "logs", stream), patience: logPatience})
	return a.Value, err
}

// Profile implements web.Source.
func (s *Source) Profile(ctx context.Context, q web.ProfileQuery) (web.ProfileData, error) {
	r := request{path: path(nil, q.Object+"s", q.ID, "profile"), form: q.Values(), user: q.User, patience: q.Time() + profilePatience}
	a, err := call[web.ProfileData](ctx, s, r)
	return a.Value, err
}

// Act implements web.Source. Later questions are asked again, so that their answers show the change.
func (s *Source) Act(ctx context.Context, a web.Action) (apidoc.Change, error) {
	i := slices.IndexFunc(web.Actions, func(k *web.ActionKind) bool { return k.Object+"."+k.Do == a.Do })
	if i < 0 {
		return apidoc.Change{}, fmt.Errorf("no action %q", a.Do)
	}
	kind, form := web.Actions[i], url.Values{}
	if kind.Param != nil {
		form.Set(kind.Param.Name, a.Value)
	}
	done, err := call[apidoc.Change](ctx, s, request{path: path(nil, kind.Object+"s", a.ID, kind.Do), form: form, user: a.User, patience: logPatience})
	if err == nil {
		s.answers.Expire()
	}
	return done.Value, err
}

// Histories implements web.HistorySource.
func (s *Source) Histories(ctx context.Context, q web.HistoryQuery) (web.Answer[web.HistoryPage], error) {
	return get[web.HistoryPage](ctx, s, path(withPage(q.Values(), q.Page), "history"))
}

// TypeCounters implements web.HistorySource.
func (s *Source) TypeCounters(ctx context.Context, job string) (web.Answer[map[string]counter.Values], error) {
	return get[map[string]counter.Values](ctx, s, path(nil, "jobs", job, "counters", "types"))
}

// TaskCounters implements web.HistorySource.
func (s *Source) TaskCounters(ctx context.Context, job, task string) (web.Answer[counter.Values], error) {
	return get[counter.Values](ctx, s, path(nil, "jobs", job, "tasks", task, "counters"))
}

// Samples implements web.SampleSource. Each master has samples of its own.
func (s *Source) Samples(ctx context.Context, q web.SampleQuery) (web.Answer[apidoc.Samples], error) {
	query := url.Values{"from": {strconv.FormatInt(q.From, 10)}, "step": {strconv.FormatInt(q.Step/1000, 10)}}
	if q.Pool != "" && q.Pool != web.AllSeries {
		return get[apidoc.Samples](ctx, s, path(query, "pools", q.Pool, "samples"))
	}
	a, err := get[apidoc.Samples](ctx, s, path(query, "samples"))
	if q.Pool == "" { // the whole cluster, which is one of all
		a.Value.Series = slices.DeleteFunc(slices.Clone(a.Value.Series), func(one apidoc.Series) bool { return one.Pool != "" })
	}
	return a, err
}

// Preemptions implements web.SampleSource. Each master counts those of the whole cluster from when it
// started, so this is the ledger of one, not a sum.
func (s *Source) Preemptions(ctx context.Context, pool string) (web.Answer[apidoc.PreemptionLedger], error) {
	query := url.Values{}
	if pool != "" {
		query.Set("pool", pool)
	}
	return get[apidoc.PreemptionLedger](ctx, s, path(query, "scheduler", "preemptions"))
}

// policyQuery returns the parameters of a change of the policy.
func policyQuery(c web.PolicyChange) url.Values {
	query := url.Values{"policy": {c.Policy}}
	for name, value := range c.Conf {
		if name != registry.AllocationFile && name != registry.Allocations { // masters keep these
			query.Set(name, value)
		}
	}
	return query
}

// PreviewPolicy implements web.SchedulerSource.
func (s *Source) PreviewPolicy(ctx context.Context, c web.PolicyChange) (web.Answer[apidoc.PolicyPreview], error) {
	return get[apidoc.PolicyPreview](ctx, s, path(policyQuery(c), "scheduler", "preview"))
}

// SetPolicy implements web.SchedulerSource.
func (s *Source) SetPolicy(ctx context.Context, c web.PolicyChange) (apidoc.Change, error) {
	form := policyQuery(c)
	form.Set("expected", c.Expected)
	done, err := call[apidoc.Change](ctx, s, request{path: path(nil, "scheduler", "set"), form: form, user: c.User, patience: logPatience})
	s.answers.Expire()
	return done.Value, err
}

// Decisions implements web.SchedulerSource.
func (s *Source) Decisions(ctx context.Context, q web.DecisionQuery) (web.Answer[apidoc.Decisions], error) {
	query := url.Values{"job": {q.Job}, "pool": {q.Pool}, "node": {q.Node}, "kind": {q.Kind}}
	if q.Before > 0 {
		query.Set("before", strconv.FormatUint(q.Before, 10))
	}
	return get[apidoc.Decisions](ctx, s, path(withPage(query, web.Page{Limit: q.Limit}), "scheduler", "decisions"))
}
