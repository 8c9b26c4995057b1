package nodeprofile

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/logs/profile"
)

// serve serves the profiles of a tasknode, and returns its URL.
func serve(t *testing.T, attempt func(context.Context, string, profile.Query) ([]byte, error)) string {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range New("secret", attempt).Handlers() {
		mux.Handle(pattern, h)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestProfilesOverHTTP(t *testing.T) {
	root := serve(t, func(_ context.Context, id string, q profile.Query) ([]byte, error) {
		switch id {
		case "large":
			return make([]byte, profile.MaxBytes+1), nil
		case "suspended":
			return nil, profile.Refusal("it is suspended")
		case "broken":
			return nil, errors.New("disk on fire")
		}
		return []byte(id + " " + q.Kind), nil
	})
	right := Transport("secret", "")
	heap := profile.Query{Kind: profile.Heap}
	for _, c := range []struct {
		what      string
		transport http.RoundTripper
		path      string
		q         profile.Query
		want, err string
		refused   bool
	}{
		{"an attempt", right, "/profile/a1", heap, "a1 heap", "", false},
		{"an attempt that is suspended", right, "/profile/suspended", heap, "", "it is suspended", true},
		{"an attempt with a large profile", right, "/profile/large", heap, "", "more than", true},
		{"an error", right, "/profile/broken", heap, "", "disk on fire", false},
		{"another token", Transport("guess", ""), "/profile/a1", heap, "", "401", false},
		{"a wrong query", right, "/profile/a1", profile.Query{Kind: "cpu", Seconds: 61}, "", "from 1 to 60", true},
		{"an older daemon", right, "/profiles-of-tomorrow", heap, "", "older release", true},
	} {
		data, err := Fetch(t.Context(), c.transport, root+c.path, c.q)
		if string(data) != c.want || (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || errors.As(err, new(profile.Refusal)) != c.refused) {
			t.Errorf("%s: %.100q, %v", c.what, data, err)
		}
	}
	if data, err := Fetch(t.Context(), right, root+Path, profile.Query{Kind: profile.Stacks}); err != nil || !strings.Contains(string(data), "TestProfilesOverHTTP") {
		t.Errorf("of the daemon itself: %.300s, %v", data, err)
	}
}

// TestFewProfilesAtOnce starts as many profiles as a daemon takes, and one more.
func TestFewProfilesAtOnce(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	root := serve(t, func(context.Context, string, profile.Query) ([]byte, error) {
		began <- struct{}{}
		<-end
		return []byte("done"), nil
	})
	results := make(chan error, maxAtOnce)
	take := func() error {
		_, err := Fetch(t.Context(), Transport("secret", ""), root+Path+"/a1", profile.Query{Kind: profile.Heap})
		return err
	}
	for range maxAtOnce {
		go func() { results <- take() }()
		<-began
	}
	if err := take(); err == nil || !strings.Contains(err.Error(), "4 other profiles") {
		t.Errorf("one more: %v", err)
	}
	close(end)
	for range maxAtOnce {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
