package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/time/rate"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
)

// Rates bound the calls of each user, so that the calls of one user do not delay those of
// others. The user is the name that the caller claims. The sessions of tasknodes have no
// bound.
type Rates struct {
	Submissions Rate // of jobs
	Calls       Rate // all other calls
}

// Rate bounds calls by a token bucket.
type Rate struct {
	PerSecond int // calls in a second in the long run; 0 for any number
	Burst     int // calls at once; at least 1 unless PerSecond is 0
}

// maxUsers bounds the users whose calls are counted. Others share one count while there are so
// many.
const maxUsers = 10_000

// forgetInterval is the time between two searches for users that can be forgotten, if there are
// maxUsers.
const forgetInterval = time.Second

// limiter refuses the calls of users that make too many. It remembers a user until its buckets
// are full again; a forgotten user and a new one have the same rights.
type limiter struct {
	logger  *slog.Logger
	refused atomic.Int64
	refusal syncutil.Throttle // log lines about refused calls

	mu struct {
		sync.Mutex
		rates    Rates
		users    map[string]*buckets // at most maxUsers
		others   *buckets            // of users that do not fit
		forgetAt time.Time           // when to search next for users that can be forgotten
	}
}

// buckets are the token buckets of one user; a nil bucket has no bound.
type buckets struct{ submissions, calls *rate.Limiter }

func newLimiter(rates Rates, logger *slog.Logger) *limiter {
	l := &limiter{logger: logger}
	l.setRates(rates)
	return l
}

// setRates replaces the rates. Each user begins again with full buckets.
func (l *limiter) setRates(rates Rates) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.rates = rates
	l.mu.users = make(map[string]*buckets)
	l.mu.others = rates.newBuckets()
}

// currentRates returns the rates in use.
func (l *limiter) currentRates() Rates {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.rates
}

func (r Rates) newBuckets() *buckets {
	return &buckets{r.Submissions.newBucket(), r.Calls.newBucket()}
}

func (r Rate) newBucket() *rate.Limiter {
	if r.PerSecond == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(r.PerSecond), max(1, r.Burst))
}

// WrapUnary implements connect.Interceptor.
func (l *limiter) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
		if err := l.admit(q.Spec().Procedure, q.Header()); err != nil {
			return nil, err
		}
		return next(ctx, q)
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (l *limiter) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		if err := l.admit(conn.Spec().Procedure, conn.RequestHeader()); err != nil {
			return err
		}
		return next(ctx, conn)
	}
}

// WrapStreamingClient implements connect.Interceptor. A server does not call it.
func (l *limiter) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// admit counts a call, or returns the error that makes its client call again later.
func (l *limiter) admit(procedure string, h http.Header) error {
	user, submits := rpc.UserOf(h), callTable[procedure].submits
	wait := l.take(user, submits, time.Now())
	if wait == 0 {
		return nil
	}
	l.refused.Add(1)
	rates := l.currentRates()
	what := fmt.Sprintf("%d calls", rates.Calls.PerSecond)
	if submits {
		what = fmt.Sprintf("%d submissions", rates.Submissions.PerSecond)
	}
	if skipped, ok := l.refusal.Allow(); ok {
		l.logger.Warn("call refused: its user makes too many", "user", user, "call", procedure, "not logged", skipped)
	}
	return rpc.Overload(max(wait, minRetry), fmt.Sprintf("user %q makes more than %s in a second; try again later", user, what))
}

// minRetry is the shortest time after which a refused client calls again, so that refusals cost
// little.
const minRetry = 100 * time.Millisecond

// take takes a token from a bucket of the user. If there is none, it returns the time until
// there is one.
func (l *limiter) take(user string, submits bool, now time.Time) time.Duration {
	b := l.bucketsOf(user, now)
	bucket := b.calls
	if submits {
		bucket = b.submissions
	}
	if bucket == nil || bucket.AllowN(now, 1) {
		return 0
	}
	missing := max(0, 1-bucket.TokensAt(now))
	return max(time.Millisecond, time.Duration(missing/float64(bucket.Limit())*float64(time.Second)))
}

// bucketsOf returns the buckets of a user, and makes them if there is space.
func (l *limiter) bucketsOf(user string, now time.Time) *buckets {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.mu.users[user]
	if b != nil {
		return b
	}
	if len(l.mu.users) >= maxUsers && !now.Before(l.mu.forgetAt) {
		l.mu.forgetAt = now.Add(forgetInterval)
		for name, b := range l.mu.users {
			if isFull(b.submissions, now) && isFull(b.calls, now) {
				delete(l.mu.users, name)
			}
		}
	}
	if len(l.mu.users) >= maxUsers {
		return l.mu.others
	}
	b = l.mu.rates.newBuckets()
	l.mu.users[user] = b
	return b
}

// isFull reports whether a bucket is as a new one.
func isFull(bucket *rate.Limiter, now time.Time) bool {
	return bucket == nil || bucket.TokensAt(now) >= float64(bucket.Burst())
}
