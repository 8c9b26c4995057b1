package remote

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/source/answers"
	"github.com/hammr/hammr/sched/registry"
)

// Config configures a Source.
type Config struct {
	// RPC says which cluster to ask. Required.
	RPC rpc.Config
	// Transport sends the requests; default rpc.NewTransport(RPC).
	Transport http.RoundTripper
	// Status answers the documents that the API does not have, for Hadoop's API. Required to serve that.
	Status docs.Reader
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

// Source implements docs.Source. No goroutine outlives the call that starts it.
type Source struct {
	cfg     Config
	client  *http.Client
	answers *answers.Cache

	mu struct {
		sync.Mutex
		masters []string // addresses; the first one has answered last
	}
}

var _ docs.Source = (*Source)(nil)

// New returns a Source. It connects at the first question, to any of the masters.
func New(cfg Config) (*Source, error) {
	if err := cfg.RPC.Validate(); err != nil {
		return nil, err
	}
	cfg.EnsureDefaults()
	s := &Source{cfg: cfg, client: &http.Client{Transport: cfg.Transport}, answers: answers.New(cfg.Now, maxAnswers)}
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

// Read implements docs.Source. Answers to the same question are shared among readers.
func (s *Source) Read(ctx context.Context, e *docs.Entry, query any) (docs.Answer[any], error) {
	switch {
	case e.Path == "": // it follows from others
		return docs.Table(nil).Read(ctx, s, e, query)
	case e.Call:
		return s.cfg.Status.Read(ctx, e, query)
	}
	if q, ok := query.(docs.Configured); ok {
		query = q.WithSettings(ownSettings(q.Settings()))
	}
	path := apiRoot + e.URL(query)
	a, err := answers.Ask(ctx, s.answers, path, func(ctx context.Context) (docs.Answer[any], time.Duration, error) {
		r := request{path: path, patience: s.cfg.Patience, decode: func(_ http.Header, body io.Reader) (any, error) { return e.Decode(body) }}
		a, err := s.call(ctx, r)
		return a, freshness, err
	})
	if masters, ok := a.Value.(apidoc.Masters); ok {
		for _, m := range masters.Masters {
			s.prefer("", m.Address)
		}
	}
	return a, err
}

// apiRoot is the root of the API.
var apiRoot = strings.TrimSuffix(rpc.APIRoot, "/")

// ownSettings returns the settings of a policy without those that masters keep.
func ownSettings(conf map[string]string) map[string]string {
	own := maps.Clone(conf)
	delete(own, registry.AllocationFile)
	delete(own, registry.Allocations)
	return own
}

// Log implements docs.Source.
func (s *Source) Log(ctx context.Context, attempt, stream string, r docs.LogRange) (docs.LogPart, error) {
	query := url.Values{"from": {strconv.FormatInt(r.From, 10)}}
	if r.Max > 0 {
		query.Set("max", strconv.FormatInt(min(r.Max, docs.MaxLogBytes), 10))
	}
	path := fmt.Sprintf("%s/attempts/%s/logs/%s?%s", apiRoot, url.PathEscape(attempt), stream, query.Encode())
	a, err := s.call(ctx, request{path: path, patience: logPatience, decode: decodeLog})
	part, _ := a.Value.(docs.LogPart) // nil after an error
	return part, err
}

// Profile implements docs.Source.
func (s *Source) Profile(ctx context.Context, q docs.ProfileQuery) (docs.ProfileData, error) {
	path := fmt.Sprintf("%s/%ss/%s/profile", apiRoot, q.Object, url.PathEscape(q.ID))
	a, err := s.call(ctx, request{path: path, form: q.Values(), user: q.User, patience: q.Time() + profilePatience, decode: decodeProfile})
	data, _ := a.Value.(docs.ProfileData) // nil after an error
	return data, err
}

// Change implements docs.Source. Later questions are asked again, so that their answers show the change, or the
// policy that another user has set.
func (s *Source) Change(ctx context.Context, c docs.Change) (apidoc.Change, error) {
	r := request{form: url.Values{}, user: c.User, patience: logPatience, decode: decodeChange}
	if c.Do == "policy.set" {
		r.path = apiRoot + "/scheduler/set"
		r.form.Set("policy", c.ID)
		r.form.Set("expected", c.Expected)
		for name, value := range ownSettings(c.Conf) {
			r.form.Set(name, value)
		}
	} else {
		kind := docs.ActionOf(c.Do)
		if kind == nil {
			return apidoc.Change{}, fmt.Errorf("no action %q", c.Do)
		}
		r.path = fmt.Sprintf("%s/%ss/%s/%s", apiRoot, kind.Object, url.PathEscape(c.ID), kind.Do)
		if kind.Param != nil {
			r.form.Set(kind.Param.Name, c.Value)
		}
	}
	a, err := s.call(ctx, r)
	if err == nil || c.Do == "policy.set" {
		s.answers.Expire()
	}
	done, _ := a.Value.(apidoc.Change) // nil after an error
	return done, err
}
