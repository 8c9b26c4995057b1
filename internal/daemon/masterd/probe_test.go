package masterd

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestProbesStayAtTheTasknode lets the page of a tasknode lead a master elsewhere.
func TestProbesStayAtTheTasknode(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the master requests %s", r.URL) }))
	defer elsewhere.Close()
	page := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/metadata", http.StatusFound))
	defer page.Close()
	address := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	if err := probeTasknode(t.Context(), address(page), ""); err != nil {
		t.Errorf("a page that answers: %v", err)
	}
	for _, text := range []string{address(elsewhere) + "/metadata?x=", "user@" + address(elsewhere), address(elsewhere) + "/x:80"} {
		if err := probeTasknode(t.Context(), text, ""); err == nil || !strings.Contains(err.Error(), "is not host:port") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
