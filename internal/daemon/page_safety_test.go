package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
)

// TestMetricsAreCollectedOnceInASecond scrapes a page many times in a second.
func TestMetricsAreCollectedOnceInASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collected := 0
		gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hammr_test", Help: "a number"}, func() float64 { collected++; return 1 })
		page := daemon.NewPage(daemon.PageConfig{Title: "x", Metrics: []prometheus.Collector{gauge}})
		for second := range 3 {
			for range 50 {
				if code, _ := get(page, "/metrics"); code != http.StatusOK {
					t.Errorf("status %d", code)
				}
			}
			if collected != second+1 {
				t.Errorf("after %d s: collected %d times", second, collected)
			}
			time.Sleep(time.Second)
		}
	})
}

// TestProfilesNeedTheToken asks for profiles without the token, with another one,
// and with the right one.
func TestProfilesNeedTheToken(t *testing.T) {
	page := daemon.NewPage(daemon.PageConfig{Title: "x", Profiles: true, ProfileToken: "secret"})
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/symbol"} {
		for token, want := range map[string]int{"": http.StatusUnauthorized, "Bearer guess": http.StatusUnauthorized, "Bearer secret": http.StatusOK} {
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			r.Header.Set("Authorization", token)
			w := httptest.NewRecorder()
			if page.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s with %q: %d", path, token, w.Code)
			}
		}
	}
	if code, _ := get(page, "/metrics"); code != http.StatusOK {
		t.Errorf("metrics: %d", code)
	}
}
