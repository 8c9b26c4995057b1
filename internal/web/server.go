package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/web/hadoop"
)

// Config configures a Server.
type Config struct {
	// Source is the cluster. Required.
	Source docs.Source
	// Gate checks callers. Required.
	Gate *access.Gate
	// Name says who serves the pages, as "master m1". Required.
	Name string
	// Drills has the reports of drills; default none, and no page of them.
	Drills docs.Table
	// Scheduler is the shape of the scheduler in Hadoop's API, one of hadoop.Schedulers; default by
	// the policy.
	Scheduler string
	// Now returns the time; default time.Now.
	Now func() time.Time
	// Meters count requests and watchers; default new ones.
	Meters *Meters
	// Logger logs internal errors, those with status 500; default none.
	Logger *slog.Logger
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Meters == nil {
		c.Meters = NewMeters()
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// server serves the routes.
type server struct {
	cfg   Config
	base  string        // Base of the gate, without the slash at its end
	heavy chan struct{} // has an element for each heavy request that runs
	mux   *http.ServeMux
	hub   *hub

	profiling chan struct{} // has an element for each profile that is taken
	profiles  latest[*takenProfile]

	fragments
	histories histories
	pasts     latest[keptPast] // by job
}

// Handler serves pages, API and assets.
type Handler struct {
	http.Handler
	hub *hub
}

// Close ends all streams. The caller calls it after it has closed the HTTP server, which does not know them.
func (h *Handler) Close() error {
	h.hub.close()
	return nil
}

// New returns the handler of pages, API and assets. It checks nothing: the caller puts
// Config.Gate.Handler around it, together with what else it serves.
func New(cfg Config) *Handler {
	cfg.EnsureDefaults()
	cfg.Source = withDrills{cfg.Source, cfg.Drills}
	s := &server{cfg: cfg, base: strings.TrimSuffix(cfg.Gate.Base(), "/"), heavy: make(chan struct{}, maxHeavy), hub: newHub(cfg.Source),
		profiling: make(chan struct{}, maxProfiling)}
	s.profiles.most, s.histories.kept.most, s.pasts.most = maxProfiles, maxHistories, maxPasts
	mux := http.NewServeMux()
	s.mux = mux
	for _, rt := range Routes() {
		mux.HandleFunc(cmp.Or(rt.Method, http.MethodGet)+" "+rt.Path, func(w http.ResponseWriter, r *http.Request) { s.serve(rt, w, r) })
	}
	templates() // before the first request, and so that a broken one is found at the start of a server
	mux.Handle("GET /assets/", embedded())
	mux.HandleFunc("GET /login", s.showLogin)
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) { cfg.Gate.Login(w, r) })
	mux.HandleFunc("/logout", func(w http.ResponseWriter, r *http.Request) { cfg.Gate.Logout(w, r) })
	mux.HandleFunc("/", s.notFound)
	return &Handler{s.wrapped(mux), s.hub}
}

// call is one request to a route.
type call struct {
	*server
	cfg    Config // of the server, with the source of what the caller may see
	ctx    context.Context
	w      http.ResponseWriter
	r      *http.Request
	route  *Route
	params map[string]string
	caller access.Caller
	oldest time.Time // time of the oldest value that the answer has; zero if it has none
	stale  error     // why a value is not fresh

	err      error  // the answer, instead of a page or a document
	fragment string // of the page, if the request is for that
}

func (s *server) newCall(ctx context.Context, w http.ResponseWriter, r *http.Request, rt *Route) *call {
	caller := access.CallerOf(ctx)
	c := &call{server: s, cfg: s.cfg, ctx: ctx, w: w, r: r, route: rt, params: map[string]string{}, caller: caller}
	if access.May(caller, access.ReadLog, access.Object{Kind: "job"}) != nil {
		c.cfg.Source = docs.Public{Source: s.cfg.Source}
	}
	return c
}

// callTime bounds the work for one request.
const callTime = 20 * time.Second

// serve serves a request: it reads the parameters, checks the caller and calls the handler.
func (s *server) serve(rt *Route, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), callTime+rt.Patience)
	defer cancel()
	answer, began := &statusWriter{ResponseWriter: w}, s.cfg.Now()
	defer func() { s.cfg.Meters.answered(answer.status, s.cfg.Now().Sub(began), rt.isStream()) }()
	w = answer
	if rt.hadoop != nil {
		s.serveHadoop(ctx, rt, w, r)
		return
	}
	c := s.newCall(ctx, w, r, rt)
	object := access.Object{Kind: rt.Object, ID: r.PathValue(rt.Object)}
	var err error
	if access.May(c.caller, rt.Verb, object) == nil { // strangers do not learn which parameters are right
		c.params, err = readParams(rt, w, r)
	}
	if err == nil {
		err = c.checked(object)
	}
	if err != nil {
		c.fail(err)
	}
}

// checked calls the handler if the caller may do to the object what the route does. The gate writes
// changes to the audit log, also those of this process that no call to a master makes.
func (c *call) checked(o access.Object) error {
	rt := c.route
	if rt.action != nil {
		detail := ""
		if rt.action.Param != nil {
			detail = c.params[rt.action.Param.Name]
		}
		a := access.Action{Verb: rt.Verb, Object: o, Call: rt.action.Call, Detail: detail}
		return c.cfg.Gate.Do(c.ctx, a, func() error { return rt.Serve(c) })
	}
	if err := c.cfg.Gate.Check(c.ctx, rt.Verb, o); err != nil {
		return err
	}
	if rt.Heavy {
		leave, err := c.enterHeavy(c.ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	if c.isFragment() {
		return c.serveFragment()
	}
	return rt.Serve(c)
}

const (
	// maxHeavy is how many heavy requests run at once, so that their readers cannot take the memory
	// and the processors of a master.
	maxHeavy = 4
	// heavyWait is how long a further one waits.
	heavyWait = 5 * time.Second
)

// enterHeavy waits until a heavy request may run. The caller calls leave at its end.
func (s *server) enterHeavy(ctx context.Context) (leave func(), err error) {
	return enter(ctx, s.heavy, "requests for long lists and logs")
}

// enter waits until slots takes an element. The caller calls leave at its end. what names what the
// elements stand for.
func enter(ctx context.Context, slots chan struct{}, what string) (leave func(), err error) {
	timer := time.NewTimer(heavyWait)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil, &access.Refusal{Status: http.StatusTooManyRequests, RetryAfter: heavyWait,
		Text: fmt.Sprintf("%d other %s run already; try again in a few seconds", cap(slots), what)}
}

// reject makes an error the answer, unless there is one already. It does nothing for nil. Handlers continue with zero
// values: what they make of them is not sent.
func (c *call) reject(err error) { c.err = cmp.Or(c.err, err) }

// use returns the value of an answer, and notes how old it is. An error becomes the answer to the request.
func use[T any](c *call, a docs.Answer[T], err error) T {
	if err != nil {
		c.reject(err)
		return a.Value
	}
	if c.oldest.IsZero() || a.At.Before(c.oldest) {
		c.oldest = a.At
	}
	c.stale = cmp.Or(c.stale, a.Stale)
	return a.Value
}

// age returns how old the oldest value is.
func (c *call) age() time.Duration {
	if c.oldest.IsZero() {
		return 0
	}
	return max(0, c.cfg.Now().Sub(c.oldest))
}

// setAge sets the headers that say how old the answer is.
func (c *call) setAge() {
	c.w.Header().Set("Hammr-Age", fmt.Sprint(c.age().Milliseconds()))
	if c.stale != nil {
		c.w.Header().Set("Hammr-Stale", headerText(c.stale.Error()))
	}
}

// headerText makes a text fit for a header: one line of printable ASCII.
func headerText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	var bad *docs.BadParam
	var refusal *access.Refusal
	switch {
	case errors.As(err, &bad), errors.Is(err, docs.ErrCursor):
		return http.StatusBadRequest
	case errors.As(err, &refusal):
		return refusal.Status
	case errors.Is(err, errMethod):
		return http.StatusMethodNotAllowed
	case errors.Is(err, docs.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, docs.ErrRefused):
		return http.StatusConflict
	case errors.Is(err, docs.ErrUnavailable):
		return http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// fail answers with an error.
func (c *call) fail(err error) {
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		c.cfg.Logger.Error("request failed", "path", c.r.URL.Path, "error", err)
		if !c.caller.Token && !errors.Is(err, docs.ErrDamaged) {
			err = errors.New("internal error; the log of " + c.cfg.Name + " has it")
		}
	}
	var refusal *access.Refusal
	if errors.As(err, &refusal) {
		refusal.SetHeaders(c.w.Header())
	}
	switch {
	case c.route.isAPI():
		sendProblem(c.w, c.problem(status, err))
		return
	case status == http.StatusUnauthorized:
		to := "/"
		if c.r.Method == http.MethodGet {
			to = c.r.URL.RequestURI()
		}
		c.loginPage(c.w, c.r, status, err.Error(), c.inBase(to))
		return
	}
	if status == http.StatusServiceUnavailable && c.r.Method == http.MethodGet {
		c.w.Header().Set("Refresh", "2")
	}
	c.showError(status, err)
}

// notFound answers requests for other paths.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	c := s.newCall(r.Context(), w, r, &Route{Path: r.URL.Path})
	if err := s.cfg.Gate.Check(r.Context(), access.View, access.Object{Kind: "cluster"}); err != nil {
		c.fail(err) // strangers do not learn which paths exist
		return
	}
	if methods := s.methods(r); methods != nil {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		c.fail(errMethod)
		return
	}
	c.fail(fmt.Errorf("no page at %s %.200q: %w", r.Method, r.URL.Path, docs.ErrUnknown))
}

// errMethod is the error for a path that has other methods.
var errMethod = errors.New("this path does not have the method; the header Allow lists those that it has")

// methods returns the methods of the path of a request, nil if there is no such path.
func (s *server) methods(r *http.Request) (methods []string) {
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
		if _, pattern := s.mux.Handler(&http.Request{Method: m, URL: r.URL, Host: r.Host}); strings.HasPrefix(pattern, m+" ") {
			methods = append(methods, m)
		}
	}
	return methods
}

// send writes an answer of a type.
func (c *call) send(status int, contentType string, body []byte) error {
	c.setAge()
	c.w.Header().Set("Content-Type", contentType)
	if status == http.StatusOK && c.route.isAPI() && c.r.Method == http.MethodGet && unchanged(c.w, c.r, body) {
		return nil
	}
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(body) // the client may have disconnected
	}
	return nil
}

// showLogin shows the form to sign in.
func (s *server) showLogin(w http.ResponseWriter, r *http.Request) {
	s.loginPage(w, r, http.StatusOK, "", r.URL.Query().Get("to"))
}

// loginPage shows the form to sign in, with what was wrong. It leads to the path to.
func (s *server) loginPage(w http.ResponseWriter, r *http.Request, status int, problem, to string) {
	c := s.newCall(r.Context(), w, r, &Route{Path: "/login"})
	c.caller = access.Caller{}
	data := struct{ Problem, To string }{problem, to}
	if err := c.render(status, "login", "Sign in", data); err != nil {
		s.cfg.Logger.Error("page failed", "error", err)
	}
}

// Refuse answers a request that the gate refuses: by JSON below the API, by the form to sign in, or
// by text. It is for access.Config.
func Refuse(w http.ResponseWriter, r *http.Request, refusal *access.Refusal) {
	switch {
	case isHadoopAPI(r.URL.Path):
		hadoop.Fail(w, r, refusal.Status, refusal)
	case strings.Contains(r.URL.Path, apiRoot+"/"): // below Base
		sendProblem(w, problem{Title: http.StatusText(refusal.Status), Status: refusal.Status, Detail: refusal.Text, Code: "refused"})
	case strings.HasSuffix(r.URL.Path, "/login"):
		cfg := Config{}
		cfg.EnsureDefaults()
		(&server{cfg: cfg, base: strings.TrimSuffix(r.URL.Path, "/login")}).loginPage(w, r, refusal.Status, refusal.Text, r.PostFormValue("to"))
	default:
		http.Error(w, refusal.Text, refusal.Status)
	}
}

// masters returns the masters for the head of a page. A page is shown even if none answers. A caller
// that may not view the cluster sees none.
func (c *call) masters() apidoc.Masters {
	if access.May(c.caller, access.View, access.Object{Kind: "cluster"}) != nil {
		return apidoc.Masters{}
	}
	ctx, cancel := context.WithTimeout(c.ctx, 3*time.Second)
	defer cancel()
	m, err := docs.Masters.Read(ctx, c.cfg.Source, docs.No{})
	if err != nil {
		c.stale = cmp.Or(c.stale, err)
		return apidoc.Masters{}
	}
	return m.Value
}
