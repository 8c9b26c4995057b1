package remote

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/rpc/wire/wireconnect"
)

// silent is a master that never answers a submission.
type silent struct {
	wireconnect.JobmasterClient
	repeated []int64 // RepeatedAfter of each submission
}

func (s *silent) Submit(_ context.Context, q *wire.SubmitRequest) (*wire.SubmitResponse, error) {
	s.repeated = append(s.repeated, q.Spec.RepeatedAfter)
	return nil, errors.New("no answer")
}

// TestRepeatedSubmissionsSayWhenTheFirstWasSent lets a master find out whether it can still
// remember the first of them.
func TestRepeatedSubmissionsSayWhenTheFirstWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s, q := new(silent), new(staged), &wire.SubmitRequest{Spec: new(wire.JobSpec)}
		for _, pause := range []time.Duration{0, 1500 * time.Millisecond, time.Hour} {
			time.Sleep(pause)
			if _, err := s.send(&rpc.Master{JobmasterClient: m}, t.Context(), q); err == nil {
				t.Error("the submission was accepted")
			}
		}
		if want := []int64{0, 1500, 3_601_500}; !slices.Equal(m.repeated, want) {
			t.Errorf("submissions repeated after %d ms, want %d", m.repeated, want)
		}
	})
}
