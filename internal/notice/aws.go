package notice

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/syncutil"
)

// Paths of the metadata service of EC2, version 2 (IMDSv2).
const (
	awsTokenPath       = "/latest/api/token"
	awsActionPath      = "/latest/meta-data/spot/instance-action"
	awsMaintenancePath = "/latest/meta-data/events/maintenance/scheduled"
	awsRebalancePath   = "/latest/meta-data/events/recommendations/rebalance"
)

// awsTokenLife is for how long a token of the service is asked for; it is renewed at half of that.
const awsTokenLife = 6 * time.Hour

// AWS asks the metadata service of EC2. What does not hold is not found there.
type AWS struct {
	*service
	token   string
	tokenAt time.Time
}

// NewAWS makes a Source for EC2. base is Address, except in tests.
func NewAWS(base string) *AWS { return &AWS{service: newService(base)} }

// Poll implements Source.
func (a *AWS) Poll(ctx context.Context, wait time.Duration) (notices []Notice, err error) {
	if err := syncutil.Sleep(ctx, wait); err != nil {
		return nil, err
	}
	for _, q := range []struct {
		path   string
		decode func([]byte) ([]Notice, error)
	}{{awsActionPath, decodeAWSAction}, {awsMaintenancePath, decodeAWSMaintenance}, {awsRebalancePath, decodeAWSRebalance}} {
		body, err := a.get(ctx, q.path)
		if errors.Is(err, errNotFound) {
			continue // there is none
		}
		if err != nil {
			return nil, err
		}
		found, err := q.decode(body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.path, err)
		}
		notices = append(notices, found...)
	}
	return notices, nil
}

// Acknowledge implements Source. EC2 has no acknowledgements.
func (a *AWS) Acknowledge(context.Context, Notice) error { return nil }

// get asks with a token. The service forgets tokens when the machine is stopped and started, so one
// that is refused is replaced once.
func (a *AWS) get(ctx context.Context, path string) ([]byte, error) {
	for first := true; ; first = false {
		if err := a.renewToken(ctx); err != nil {
			return nil, err
		}
		body, _, err := a.ask(ctx, request{path: path, headers: map[string]string{"X-aws-ec2-metadata-token": a.token}})
		var status *statusError
		if first && errors.As(err, &status) && status.status == http.StatusUnauthorized {
			a.token = ""
			continue
		}
		return body, err
	}
}

// renewToken gets a token, unless there is one that is good for long enough.
func (a *AWS) renewToken(ctx context.Context) error {
	if a.token != "" && time.Since(a.tokenAt) < awsTokenLife/2 {
		return nil
	}
	seconds := fmt.Sprint(int(awsTokenLife.Seconds()))
	body, _, err := a.ask(ctx, request{
		method: http.MethodPut, path: awsTokenPath, headers: map[string]string{"X-aws-ec2-metadata-token-ttl-seconds": seconds},
	})
	if err != nil {
		return fmt.Errorf("token of the metadata service: %w", err)
	}
	a.token, a.tokenAt = strings.TrimSpace(string(body)), time.Now()
	return nil
}
