package server_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster/server"
)

// TestAnswersHaveTheMastersTime asks a master whose clock is wrong, without the token.
func TestAnswersHaveTheMastersTime(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("east", 3600))
	s := httptest.NewServer(server.New(server.Config{Token: token, ClusterID: clusterID, Now: func() time.Time { return now }}))
	defer s.Close()
	for _, path := range []string{"/", "/hammr.Jobmaster/GetInfo"} {
		answer, err := http.Get(s.URL + path)
		must.Do(t, err)
		answer.Body.Close()
		if date := answer.Header.Get("Date"); date != "Sat, 21 Nov 2026 11:00:00 GMT" || answer.Header.Get(rpc.HeaderProtocol) != strconv.Itoa(rpc.Protocol.Newest) {
			t.Errorf("%s: headers %v", path, answer.Header)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
