// Package nodelog reads logs of attempts from the pages of tasknodes, which have them until they are
// aggregated:
//
//	part, err := nodelog.ReadRange(ctx, page, attempt, "stderr", nodelog.Range{From: -1000}, token, clusterID)
//
// internal/daemon/tasknoded/logs.go serves the requests. Aggregated logs are in files that package joblog
// reads.
package nodelog

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"github.com/hammr/hammr/internal/rpc"
)

// Streams are the output streams of an attempt's process.
var Streams = []string{"stdout", "stderr"}

// MaxBytes bounds an answer.
const MaxBytes = 16 << 20

// transport makes a connection for each request, because users read one log at a time. A transport follows
// no redirections, which would have the token.
var transport = &http.Transport{DisableKeepAlives: true}

// fetch sends a request to a tasknode's page.
func fetch(ctx context.Context, page, name, token, clusterID string) (string, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page+"/logs/"+name, nil)
	if err != nil {
		return "", nil, err
	}
	rpc.SetHeaders(request.Header, token, clusterID)
	rpc.ClaimUser(request)
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return "", nil, fmt.Errorf("the tasknode's page: %w", err)
	}
	defer answer.Body.Close() // the answer was only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, MaxBytes+1<<10))
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("the tasknode's page: %w", err)
	case answer.StatusCode == http.StatusNotFound, answer.StatusCode == http.StatusTemporaryRedirect: // the latter for a name with ".."
		return "", nil, fs.ErrNotExist
	case answer.StatusCode != http.StatusOK:
		return "", nil, fmt.Errorf("the tasknode's page at %s: %s: %.200s", page, answer.Status, text)
	}
	return string(text), answer.Header, nil
}
