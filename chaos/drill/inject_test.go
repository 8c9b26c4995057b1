package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// TestInjectionByAnswers checks that a fault counts as injected if one daemon accepts it, or
// ends before it answers.
func TestInjectionByAnswers(t *testing.T) {
	gone, cut, refused := fmt.Errorf("n1: %w", testcluster.ErrNotRunning), fmt.Errorf("n1: %w", io.ErrUnexpectedEOF), errors.New("refused")
	crash := chaos.Fault{Kind: chaos.Failpoint, Point: "tasknode/launch", Action: "crash"}
	slow := chaos.Fault{Kind: chaos.SlowDisk}
	for name, c := range map[string]struct {
		fault   chaos.Fault
		answers []error
		want    error
	}{
		"all":                    {slow, []error{nil, nil}, nil},
		"one of two":             {slow, []error{gone, nil}, nil},
		"no daemon runs":         {slow, []error{gone, gone}, chaos.ErrNoTarget},
		"killed during the call": {slow, []error{cut}, chaos.ErrNoTarget},
		"crashed by the fault":   {crash, []error{cut}, nil},
		"one refuses":            {slow, []error{nil, refused}, refused},
	} {
		i, names := 0, make([]string, len(c.answers))
		err := ifReachable(t.Context(), names, mayEnd(c.fault, func(context.Context, string) error { i++; return c.answers[i-1] }))
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}
