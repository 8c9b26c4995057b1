package server_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/protocol"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster/server"
	"github.com/hammr/hammr/tasknode/masterlink"
)

// received are the versions that callers have spoken.
type received struct {
	sync.Mutex
	versions []string
}

// serve serves the first master of the rig, which accepts these versions.
func (r *rig) serve(accepted protocol.Versions) (address string, calls *received) {
	calls = new(received)
	handler := server.New(server.Config{
		Master: r.masters[0].Master, Token: token, ClusterID: clusterID, Info: r.info, Leader: r.leader, Protocol: accepted,
		Docs: board.OfLeader(r.masters[0].Master),
	})
	s := rpc.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		calls.Lock()
		calls.versions = append(calls.versions, q.Header.Get(rpc.HeaderProtocol))
		calls.Unlock()
		handler.ServeHTTP(w, q)
	}), slog.New(slog.DiscardHandler))
	listener := listen(r.t)
	go s.Serve(listener)
	r.t.Cleanup(func() { s.Close() })
	return listener.Addr().String(), calls
}

// TestCallersAndMastersOfSeveralVersions lets callers of some versions call masters of others. They
// speak the newest version that both know, for calls and for the sessions of tasknodes.
func TestCallersAndMastersOfSeveralVersions(t *testing.T) {
	r := newRig(t, 1)
	for _, c := range []struct {
		master, caller protocol.Versions
		spoken         []string // by two calls and a session
	}{
		{protocol.Versions{Oldest: 2, Newest: 2}, protocol.Versions{Oldest: 2, Newest: 2}, []string{"2", "2", "2"}},
		{protocol.Versions{Oldest: 2, Newest: 3}, protocol.Versions{Oldest: 2, Newest: 2}, []string{"2", "2", "2"}},
		{protocol.Versions{Oldest: 2, Newest: 2}, protocol.Versions{Oldest: 2, Newest: 3}, []string{"3", "2", "2", "2"}},
		{protocol.Versions{Oldest: 2, Newest: 3}, protocol.Versions{Oldest: 3, Newest: 4}, []string{"4", "3", "3", "3"}},
	} {
		t.Run("master "+c.master.String()+" caller "+c.caller.String(), func(t *testing.T) {
			address, calls := r.serve(c.master)
			cfg := rpc.Config{Masters: []string{address}, Token: token, ClusterID: clusterID, Protocol: c.caller}
			masters, err := rpc.New(cfg)
			must.Do(t, err)
			defer masters.Close()
			for range 2 {
				if _, err := docs.Nodes.From(t.Context(), masters, docs.No{}); err != nil {
					t.Fatal(err)
				}
			}
			hello := &wire.Report{Machine: t.Name(), Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: cluster.FormatVersion, Instance: "i"}}}
			session, err := masterlink.NewLink(masters).Connect(t.Context(), hello)
			must.Do(t, err)
			session.Close()
			calls.Lock()
			defer calls.Unlock()
			if !slices.Equal(calls.versions, c.spoken) {
				t.Errorf("spoken %v, want %v", calls.versions, c.spoken)
			}
		})
	}
}

// TestFirstContactOfASessionMayBeRefused lets a newer tasknode begin with its session. The link
// tries again, and its second session speaks the older version.
func TestFirstContactOfASessionMayBeRefused(t *testing.T) {
	r := newRig(t, 1)
	address, _ := r.serve(protocol.Versions{Oldest: 2, Newest: 2})
	masters, err := rpc.New(rpc.Config{Masters: []string{address}, Token: token, ClusterID: clusterID, Protocol: protocol.Versions{Oldest: 2, Newest: 3}})
	must.Do(t, err)
	defer masters.Close()
	hello := &wire.Report{Machine: "n", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: cluster.FormatVersion, Instance: "i"}}}
	link := masterlink.NewLink(masters)
	session, err := link.Connect(t.Context(), hello)
	if err != nil {
		session, err = link.Connect(t.Context(), hello)
	}
	must.Do(t, err)
	session.Close()
}

func TestVersionsWithoutCommonOneAreExplained(t *testing.T) {
	r := newRig(t, 1)
	for _, c := range []struct{ master, caller protocol.Versions }{
		{protocol.Versions{Oldest: 3, Newest: 4}, protocol.Versions{Oldest: 1, Newest: 2}},
		{protocol.Versions{Oldest: 1, Newest: 2}, protocol.Versions{Oldest: 3, Newest: 4}},
	} {
		address, _ := r.serve(c.master)
		cfg := calls(address)
		cfg.Protocol = c.caller
		want := address + ": the master speaks protocol version " + c.master.String() + ", this program " + c.caller.String() + "; use programs of the same release"
		if _, err := r.clientWith(cfg).Info(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
