package leader

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/logs/nodeprofile"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc"
)

// serveProfiles serves profiles as a tasknode does, or as a master below its RPC address, and returns the
// address. An attempt answers with its id and the kind, or refuses.
func serveProfiles(t *testing.T, root string) string {
	t.Helper()
	h := nodeprofile.New(testToken, func(_ context.Context, id string, q profile.Query) ([]byte, error) {
		switch id {
		case overID:
			return nil, profile.Refusal("it is suspended")
		case "broken":
			return nil, errors.New("disk on fire")
		}
		return []byte(id + " " + q.Kind), nil
	})
	mux := http.NewServeMux()
	for pattern, each := range h.Handlers() {
		mux.Handle(strings.Replace(pattern, nodeprofile.Path, path.Join(root, nodeprofile.Path), 1), each)
	}
	s := httptest.NewUnstartedServer(nil)
	s.Config = rpc.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(rpc.HeaderProtocol, strconv.Itoa(rpc.Protocol.Newest))
		mux.ServeHTTP(w, r)
	}), nil)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestTakeProfile takes profiles of an attempt, a tasknode and a master, and of those that do not answer
// or are not there.
func TestTakeProfile(t *testing.T) {
	s, f, now := newSource(t)
	f.page, f.rpc = serveProfiles(t, "/"), serveProfiles(t, rpc.APIRoot)
	take := func(object, id, tasknode, kind string) (docs.ProfileData, error) {
		now.pass(testPeriod) // it asks again
		return s.TakeProfile(t.Context(), tasknode, docs.ProfileQuery{Object: object, ID: id, Query: profile.Query{Kind: kind, Seconds: 1}})
	}
	for _, c := range []struct {
		object, id, tasknode, kind string
		want                       string // part of the profile; "" for none
		err                        string
		class                      error
	}{
		{"attempt", openID, "n1", profile.Heap, openID + " heap", "", nil},
		{"node", "n1", "n1", profile.Stacks, "leader.TestTakeProfile", "", nil},
		{"master", "m1", "m1", profile.Stacks, "leader.TestTakeProfile", "", nil},
		{"attempt", overID, "n1", profile.Heap, "", "it is suspended", docs.ErrRefused},
		{"attempt", "broken", "n1", profile.Heap, "", "disk on fire", docs.ErrUnavailable},
		{"attempt", openID, "n9", profile.Heap, "", "n9", docs.ErrUnknown},
		{"node", "n9", "n9", profile.Heap, "", "n9", docs.ErrUnknown},
		{"master", "m9", "m9", profile.Heap, "", "m9", docs.ErrUnknown},
		{"node", "n1", "n1", "weather", "", "weather", docs.ErrRefused},
	} {
		got, err := take(c.object, c.id, c.tasknode, c.kind)
		if err != nil != (c.err != "") || !strings.Contains(string(got.Bytes), c.want) || err != nil && (!errors.Is(err, c.class) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s of %s %s: %.300q, %v", c.kind, c.object, c.id, got.Bytes, err)
		}
	}
	f.page, f.rpc = "127.0.0.1:1", "127.0.0.1:1" // they have ended
	for object, id := range map[string]string{"attempt": openID, "node": "n1", "master": "m1"} {
		if got, err := take(object, id, "n1", profile.Heap); !errors.Is(err, docs.ErrUnavailable) || len(got.Bytes) > 0 {
			t.Errorf("%s %s has ended: %v", object, id, err)
		}
	}
	f.page = "" // it is lost
	if _, err := take("node", "n1", "n1", profile.Heap); !errors.Is(err, docs.ErrRefused) || !strings.Contains(err.Error(), "is lost") {
		t.Errorf("a lost tasknode: %v", err)
	}
}
