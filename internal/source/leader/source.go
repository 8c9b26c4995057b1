package leader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/logs/nodeprofile"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/answers"
	"github.com/hammr/hammr/storage"
)

// Client is the cluster as the source asks it. The methods are those of remote.Client.
type Client interface {
	client.Admin
	Close() error
}

// Config configures a Source.
type Config struct {
	// RPC says which cluster to ask. Required. Its Timeout is how long a page waits for a leader;
	// default 3 s.
	RPC rpc.Config
	// Resolve maps the full name of a file to its file system and its path there, for logs of
	// attempts that have ended. Default none: such logs are read from the tasknodes that still have
	// them.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// Age is how long an answer is fresh; default 700 ms, less than the second in which watchers ask
	// again.
	Age time.Duration
	// Now returns the time; default time.Now.
	Now func() time.Time
	// Connect opens a client; default remote.New.
	Connect func(rpc.Config) (Client, error)
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	c.RPC.Timeout, c.Age = cmp.Or(c.RPC.Timeout, 3*time.Second), cmp.Or(c.Age, 700*time.Millisecond)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Connect == nil {
		c.Connect = func(cfg rpc.Config) (Client, error) { return remote.New(remote.Config{Config: cfg}) }
	}
}

// Numbers of answers that are kept. The status of a job with all its tasks can be large.
const (
	maxAnswers = 512
	maxLarge   = 4
)

// Source is the cluster as its leader shows it. It starts no goroutines of its own.
type Source struct {
	cfg     Config
	table   docs.Table
	client  Client
	answers *answers.Cache
	large   *answers.Cache // statuses of jobs with their tasks

	calls    http.RoundTripper // to masters
	profiles http.RoundTripper // to tasknodes
}

// New returns a Source. It connects at the first question.
func New(cfg Config) (*Source, error) {
	cfg.EnsureDefaults()
	c, err := cfg.Connect(cfg.RPC)
	if err != nil {
		return nil, err
	}
	s := &Source{cfg: cfg, client: c, answers: answers.New(cfg.Now, maxAnswers), large: answers.New(cfg.Now, maxLarge)}
	s.calls, s.profiles = rpc.NewTransport(cfg.RPC), nodeprofile.Transport(cfg.RPC.Token, cfg.RPC.ClusterID)
	s.table = docs.Table{}
	docs.Serve(s.table, docs.Masters, s.masters)
	docs.Serve(s.table, docs.Status, s.status)
	return s, nil
}

// Read answers the documents that only the leader knows. The leader is asked for all readers at once.
func (s *Source) Read(ctx context.Context, e *docs.Entry, query any) (docs.Answer[any], error) {
	if s.table[e] != nil {
		return s.table.Read(ctx, s, e, query)
	}
	path := e.URL(query)
	return answers.Ask(ctx, s.answers, path, func(ctx context.Context) (a docs.Answer[any], fresh time.Duration, err error) {
		text, err := s.client.Read(ctx, path)
		if err != nil {
			return a, 0, classify(err)
		}
		a.Value, err = e.Decode(bytes.NewReader(text))
		return a, s.cfg.Age, err
	})
}

// Close closes the connections. No question may be under way.
func (s *Source) Close() error {
	(&http.Client{Transport: s.calls}).CloseIdleConnections()
	return s.client.Close()
}

// classify marks errors with the sentinels of package docs.
func classify(err error) error {
	var unavailable *rpc.UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unavailable), errors.Is(err, context.DeadlineExceeded):
		return docs.Classify(docs.ErrUnavailable, err)
	}
	return err
}

// masters asks all masters at the same time.
func (s *Source) masters(ctx context.Context, _ docs.No) (docs.Answer[apidoc.Masters], error) {
	return answers.Ask(ctx, s.answers, "masters", func(ctx context.Context) (a docs.Answer[apidoc.Masters], fresh time.Duration, err error) {
		info, err := s.client.Info(ctx)
		if err != nil {
			return a, 0, docs.Classify(docs.ErrUnavailable, err) // no master answers
		}
		infos := rpc.Infos(rpc.AskAll(ctx, rpc.Addresses(info), masterTimeout, s.connect))
		fresh = s.cfg.Age
		if slices.Contains(infos, nil) { // pages must not wait for it all the time
			fresh = max(fresh, unreachableAge)
		}
		a.Value = apidoc.MastersOf(info, infos)
		return a, fresh, nil
	})
}

const (
	// masterTimeout bounds the answer of one master. A page waits for it.
	masterTimeout = time.Second
	// unreachableAge is how long the masters are not asked again if one has not answered.
	unreachableAge = 5 * time.Second
)

// connect returns the client of one master. All readers share its answer, so it need not stay connected.
func (s *Source) connect(address string) (Client, error) {
	return s.cfg.Connect(s.cfg.RPC.ToOne(address, masterTimeout))
}

// Change changes the cluster. Later questions are asked again, so that their answers show the change, or the
// policy that another user has set.
func (s *Source) Change(ctx context.Context, a docs.Change) (apidoc.Change, error) {
	if a.User != "" { // the audit log of the master has the user, and not this process
		ctx = rpc.WithUser(ctx, a.User)
	}
	done, err := s.client.Change(ctx, &wire.ChangeRequest{Do: a.Do, Id: a.ID, Value: a.Value, Conf: a.Conf, Expected: a.Expected})
	if err == nil || a.Do == "policy.set" {
		s.answers.Expire()
	}
	var none *rpc.UnavailableError
	if err != nil && a.Do == "master.add" && !errors.As(err, &none) { // the address is not that of a master, or it does not answer
		err = docs.Classify(docs.ErrRefused, err)
	}
	return apidoc.Change{ID: a.ID, Done: done.GetDone(), To: done.GetTo()}, classify(err)
}
