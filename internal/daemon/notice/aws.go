package notice

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
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

// aws asks the metadata service of EC2. What does not hold is not found there.
type aws struct {
	poller
	token   string
	tokenAt time.Time
}

func newAWS(base string) *aws {
	a := new(aws)
	a.poller = poller{newService(base), []value{
		{awsActionPath, decodeAWSAction}, {awsMaintenancePath, decodeAWSMaintenance}, {awsRebalancePath, decodeAWSRebalance},
	}, a.get}
	return a
}

// get asks with a token. The service forgets tokens when the machine is stopped and started, so one
// that is refused is replaced once.
func (a *aws) get(ctx context.Context, path string, wait time.Duration) ([]byte, error) {
	if err := syncutil.Sleep(ctx, wait); err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		if err := a.renewToken(ctx); err != nil {
			return nil, err
		}
		body, _, err := a.ask(ctx, request{path: path, headers: map[string]string{"X-aws-ec2-metadata-token": a.token}})
		var status *statusError
		switch {
		case errors.Is(err, errNotFound):
			return nil, nil
		case first && errors.As(err, &status) && status.status == http.StatusUnauthorized:
			a.token = ""
			continue
		}
		return body, err
	}
}

// renewToken gets a token, unless there is one that is good for long enough.
func (a *aws) renewToken(ctx context.Context) error {
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
