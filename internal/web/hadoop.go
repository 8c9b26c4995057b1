package web

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/internal/web/hadoop"
	"github.com/hammr/hammr/internal/wire"
)

// hadoopRoutes returns the paths of Hadoop's REST API, which package hadoop answers.
func hadoopRoutes() (routes []*Route) {
	for _, e := range hadoop.Endpoints() {
		rt := &Route{Method: e.Method, Path: e.Path, Verb: e.Verb, Object: e.Object, Doc: e.Doc, hadoop: e}
		for _, part := range strings.Split(e.Path, "/") {
			if name, found := strings.CutPrefix(part, "{"); found && part != "{$}" {
				rt.Params = append(rt.Params, Param{Name: strings.TrimSuffix(name, "}"), Required: true, Doc: "id"})
			}
		}
		routes = append(routes, rt)
	}
	return routes
}

// isHadoopAPI reports whether programs of Hadoop call a path.
func isHadoopAPI(path string) bool {
	return strings.HasPrefix(path, "/ws/v1/") || strings.HasPrefix(path, "/proxy/")
}

// serveHadoop serves a request to a path of Hadoop's API. The caller is checked as for all paths.
func (s *server) serveHadoop(ctx context.Context, rt *Route, w http.ResponseWriter, r *http.Request) {
	self, isMaster := strings.CutPrefix(s.cfg.Name, "master ")
	if !isMaster {
		self = ""
	}
	caller := access.CallerOf(ctx)
	cfg := &hadoop.Config{Source: hadoopSource{s.cfg.Source, caller.Name}, Self: self, Scheduler: s.cfg.Scheduler, Now: s.cfg.Now}
	if access.May(caller, access.ReadLog, access.Object{Kind: "job"}) != nil {
		cfg.Diagnostics = withoutQuotes
	}
	c, err := rt.hadoop.Open(ctx, cfg, w, r)
	if refusal := access.May(caller, rt.Verb, access.Object{Kind: rt.Object}); err != nil && refusal != nil {
		err = refusal // strangers do not learn what is wrong
	}
	switch {
	case err != nil:
	case rt.Verb.Changes():
		err = s.cfg.Gate.Do(ctx, access.Action{Verb: rt.Verb, Object: c.Object, Call: rt.hadoop.Call, Detail: c.Value}, c.Serve)
	default:
		if err = s.cfg.Gate.Check(ctx, rt.Verb, c.Object); err == nil {
			err = c.Serve()
		}
	}
	if err == nil {
		return
	}
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		s.cfg.Logger.Error("request failed", "path", r.URL.Path, "error", err)
	}
	if refusal, ok := errors.AsType[*access.Refusal](err); ok {
		refusal.SetHeaders(w.Header())
	}
	hadoop.Fail(w, r, status, err)
}

// hadoopSource is a Source as package hadoop reads it. Answers that are not fresh count as others:
// Hadoop's API has no field for that.
type hadoopSource struct {
	source Source
	user   string
}

var _ hadoop.Source = hadoopSource{}

// hadoopError marks an error with the sentinel of package hadoop.
func hadoopError(err error) error {
	for ours, theirs := range map[error]error{ErrUnknown: hadoop.ErrUnknown, ErrRefused: hadoop.ErrRefused, ErrUnavailable: hadoop.ErrUnavailable} {
		if errors.Is(err, ours) {
			return Classify(theirs, err)
		}
	}
	return err
}

func plain[T any](a Answer[T], err error) (T, error) { return a.Value, hadoopError(err) }

func (h hadoopSource) Masters(ctx context.Context) (apidoc.Masters, error) {
	return plain(h.source.Masters(ctx))
}

func (h hadoopSource) Nodes(ctx context.Context) ([]apidoc.Tasknode, error) {
	return plain(h.source.Nodes(ctx))
}

func (h hadoopSource) Pools(ctx context.Context) ([]apidoc.Queue, error) {
	return plain(h.source.Pools(ctx))
}

func (h hadoopSource) Policy(ctx context.Context) (apidoc.Policy, error) {
	return plain(h.source.Policy(ctx))
}

func (h hadoopSource) Summary(ctx context.Context, job string) (report.Report, error) {
	return plain(h.source.Job(ctx, job))
}

func (h hadoopSource) TypeCounters(ctx context.Context, job string) (map[string]counter.Values, error) {
	return plain(h.source.TypeCounters(ctx, job))
}

func (h hadoopSource) States(ctx context.Context) (map[string]int, error) {
	page, err := plain(h.source.Jobs(ctx, JobQuery{Page: Page{Limit: 1}}))
	return page.States, err
}

// Jobs pages through the list, so that the part of it that a client reads is read.
func (h hadoopSource) Jobs(ctx context.Context, q hadoop.Query) iter.Seq2[apidoc.Job, error] {
	return func(yield func(apidoc.Job, error) bool) {
		query := JobQuery{States: q.States, User: q.User, Text: q.Text, Page: Page{Limit: MaxLimit}}
		for {
			page, err := plain(h.source.Jobs(ctx, query))
			if err != nil {
				yield(apidoc.Job{}, err)
				return
			}
			for _, j := range page.Jobs {
				if !yield(j, nil) {
					return
				}
			}
			if query.Cursor = page.Next; query.Cursor == "" {
				return
			}
		}
	}
}

func (h hadoopSource) Status(ctx context.Context, job string) (*wire.JobStatus, error) {
	return plain(h.source.Status(ctx, job))
}

func (h hadoopSource) TaskList(ctx context.Context, job string) (hadoop.TaskList, error) {
	if s, ok := h.source.(TaskListSource); ok {
		return plain(s.TaskList(ctx, job))
	}
	status, err := h.Status(ctx, job)
	return hadoop.TaskListOf(status), err
}

func (h hadoopSource) Change(ctx context.Context, do, job, value string) error {
	_, err := h.source.Act(ctx, Action{Do: "job." + do, ID: job, Value: value, User: h.user})
	return hadoopError(err)
}
