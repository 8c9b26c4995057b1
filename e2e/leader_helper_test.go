package e2e

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
)

// awaitLeader waits until a master leads that is not the one with an id.
func (e *engine) awaitLeader(but string) (leader localcluster.Master) {
	e.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		i := slices.IndexFunc(e.state.Masters, func(m localcluster.Master) bool {
			return m.ID != but && e.figure(m, "hammr_leads") == "1"
		})
		if i >= 0 {
			return e.state.Masters[i]
		}
	}
	e.t.Fatal("nobody leads")
	return leader
}

// figure returns a metric of a master, "" if the master does not answer.
func (e *engine) figure(m localcluster.Master, name string) string {
	client := http.Client{Timeout: 500 * time.Millisecond}
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://" + m.HTTP + "/metrics")
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
