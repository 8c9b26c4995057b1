package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/web/hadoop"
)

// hadoopRoutes returns the paths of Hadoop's REST API, which package hadoop answers.
func hadoopRoutes() (routes []*Route) {
	for _, e := range hadoop.Endpoints() {
		rt := &Route{Method: e.Method, Path: e.Path, Verb: e.Verb, Object: e.Object, Doc: e.Doc, hadoop: e}
		for _, part := range strings.Split(e.Path, "/") {
			if name, found := strings.CutPrefix(part, "{"); found && part != "{$}" {
				rt.Params = append(rt.Params, docs.Param{Name: strings.TrimSuffix(name, "}"), Required: true, Doc: "id"})
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
	cfg := &hadoop.Config{Source: s.cfg.Source, User: caller.Name, Self: self, Scheduler: s.cfg.Scheduler, Now: s.cfg.Now}
	if access.May(caller, access.ReadLog, access.Object{Kind: "job"}) != nil {
		cfg.Diagnostics = docs.WithoutQuotes
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
