package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc/access"
)

// master is a master with profiles and a ledger of preemptions of its own.
type master struct {
	*fakeSource
	ledger apidoc.PreemptionLedger
	pools  []string // of questions for preemptions
	asked  []docs.ProfileQuery
	data   docs.ProfileData
	err    error // of profiles and of the ledger
}

func (m *master) Profile(_ context.Context, q docs.ProfileQuery) (docs.ProfileData, error) {
	m.asked = append(m.asked, q)
	return m.data, m.err
}

// newMaster returns a master whose profiles and ledger have an error.
func newMaster(err error, data docs.ProfileData) *master {
	m := &master{fakeSource: newFake(), err: err, data: data}
	docs.Serve(m.table, docs.Preemptions, m.preemptions)
	return m
}

func (m *master) preemptions(_ context.Context, q docs.PoolQuery) (docs.Answer[apidoc.PreemptionLedger], error) {
	m.pools = append(m.pools, q.Pool)
	l := m.ledger
	l.Pool = q.Pool
	return docs.Answer[apidoc.PreemptionLedger]{Value: l, At: time.Now(), Stale: m.stale}, m.err
}

// TestProfilesArriveUnchanged takes profiles of each kind and object.
func TestProfilesArriveUnchanged(t *testing.T) {
	m := newMaster(nil, docs.ProfileData{})
	s := newSource(t, serveSource(t, m))
	for _, c := range []struct {
		q    docs.ProfileQuery
		data docs.ProfileData
	}{
		{docs.ProfileQuery{Object: "attempt", ID: "attempt_1_0001_m_000000_0", Query: profile.Query{Kind: profile.CPU, Seconds: 7}}, docs.ProfileData{Bytes: []byte("\x1f\x8b\x00\xff{}"), Note: "it is of two attempts"}},
		{docs.ProfileQuery{Object: "node", ID: "n 1", Query: profile.Query{Kind: profile.Heap, Seconds: 10}}, docs.ProfileData{Bytes: make([]byte, profile.MaxBytes)}},
		{docs.ProfileQuery{Object: "master", ID: "m1", Query: profile.Query{Kind: profile.Stacks, Seconds: 10}}, docs.ProfileData{Bytes: []byte("goroutine 1 [running]:\nmain.ü()\n")}},
	} {
		m.asked, m.data = nil, c.data
		got, err := s.Profile(t.Context(), c.q)
		c.q.User = "unknown@127.0.0.1" // the transport of the tests names no user
		if err != nil || !reflect.DeepEqual(got, c.data) || !reflect.DeepEqual(m.asked, []docs.ProfileQuery{c.q}) {
			t.Errorf("%+v: asked %+v: %.100q, note %q, %v", c.q, m.asked, got.Bytes, got.Note, err)
		}
	}
}

// TestProfileErrors asks two masters. Only if the first one cannot reach the process, the second one is
// asked: a profile takes seconds, and a refusal is that of the process.
func TestProfileErrors(t *testing.T) {
	q := docs.ProfileQuery{Object: "node", ID: "n1", Query: profile.Query{Kind: profile.Stacks, Seconds: 10}}
	for what, c := range map[string]struct {
		err, want error
		second    int // questions to the second master
	}{
		"refused":       {fmt.Errorf("it is suspended: %w", docs.ErrRefused), docs.ErrRefused, 0},
		"unknown":       {fmt.Errorf("no tasknode: %w", docs.ErrUnknown), docs.ErrUnknown, 0},
		"not reachable": {fmt.Errorf("no route: %w", docs.ErrUnavailable), nil, 1},
	} {
		first, second := newMaster(c.err, docs.ProfileData{}), newMaster(nil, docs.ProfileData{Bytes: []byte("of the second")})
		s := newSource(t, serveSource(t, first), serveSource(t, second))
		got, err := s.Profile(t.Context(), q)
		if len(first.asked) != 1 || len(second.asked) != c.second || !errors.Is(err, c.want) || c.want != nil && !strings.Contains(err.Error(), strings.SplitN(c.err.Error(), ":", 2)[0]) || c.want == nil && string(got.Bytes) != "of the second" {
			t.Errorf("%s: %q, %v; %d and %d questions", what, got.Bytes, err, len(first.asked), len(second.asked))
		}
	}
	m := newMaster(&access.Refusal{Status: http.StatusTooManyRequests, Text: "four are being taken", RetryAfter: 5 * time.Second}, docs.ProfileData{})
	_, err := newSource(t, serveSource(t, m)).Profile(t.Context(), q)
	if refusal, ok := errors.AsType[*access.Refusal](err); !ok || refusal.Status != http.StatusTooManyRequests || refusal.RetryAfter != 5*time.Second || !strings.Contains(err.Error(), "four are being taken") {
		t.Errorf("too many: %v", err)
	}
	ended := serveSource(t, m)
	ended.Close()
	if _, err := newSource(t, ended).Profile(t.Context(), q); !errors.Is(err, docs.ErrUnavailable) {
		t.Errorf("no master: %v", err)
	}
}

// TestPreemptionsOfOneMaster asks two masters, each of which has counted the preemptions of the same
// cluster since it started. A sum would count most of them twice, so the answer is that of one.
func TestPreemptionsOfOneMaster(t *testing.T) {
	ledger := func(since int64, n int) apidoc.PreemptionLedger {
		sums := apidoc.PreemptionSums{Asked: 3 * n, Granted: 2 * n, Declined: n, KeptMillis: 5000, LostMillis: 70, Checkpoints: n, CheckpointBytes: 9 << 40, CheckpointMillis: 11, CopiedBytes: 13}
		return apidoc.PreemptionLedger{Since: since, PreemptionSums: sums,
			Modes:  []apidoc.PreemptionMode{{Mode: "checkpoint", P50Millis: 480, P95Millis: 940, PreemptionSums: sums}},
			Matrix: []apidoc.PoolPreemption{{Pool: "a&b", For: "(other)", Modes: map[string]int{"checkpoint": 2 * n}, PreemptionSums: sums}}}
	}
	first, second := newMaster(nil, docs.ProfileData{}), newMaster(nil, docs.ProfileData{})
	first.ledger, second.ledger = ledger(1000, 10), ledger(9000, 4)
	server := serveSource(t, first)
	s := newSource(t, server, serveSource(t, second))
	for _, pool := range []string{"", "a&b"} {
		want := first.ledger
		want.Pool = pool
		if got, err := docs.Preemptions.Read(t.Context(), s, docs.PoolQuery{Pool: pool}); err != nil || !reflect.DeepEqual(got.Value, want) {
			t.Errorf("pool %q: %+v, %v, want %+v", pool, got.Value, err, want)
		}
	}
	if !reflect.DeepEqual(first.pools, []string{"", "a&b"}) || len(second.pools) > 0 {
		t.Errorf("asked for %q, and the second master for %q", first.pools, second.pools)
	}
	server.Close()
	if got, err := docs.Preemptions.Read(t.Context(), s, docs.PoolQuery{Pool: "c"}); err != nil || got.Value.Since != 9000 || got.Value.Asked != 12 {
		t.Errorf("after the first master has ended: %+v, %v", got.Value, err)
	}
	second.err = fmt.Errorf("no samples: %w", docs.ErrUnavailable)
	if _, err := docs.Preemptions.Read(t.Context(), s, docs.PoolQuery{Pool: "d"}); !errors.Is(err, docs.ErrUnavailable) || !strings.Contains(err.Error(), "no samples") {
		t.Errorf("of a master that counts none: %v", err)
	}
}
