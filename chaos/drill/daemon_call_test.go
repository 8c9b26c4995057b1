package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/testcluster"
)

// TestWhoWasTold: a fault was injected when one daemon has heard of it, or has ended
// before it could say so.
func TestWhoWasTold(t *testing.T) {
	gone, cut, refused := fmt.Errorf("n1: %w", testcluster.ErrNotRunning), fmt.Errorf("n1: %w", io.ErrUnexpectedEOF), errors.New("refused")
	crash := chaos.Fault{Kind: chaos.Failpoint, Point: "tasknode/launch", Action: "crash"}
	slow := chaos.Fault{Kind: chaos.SlowDisk}
	for name, c := range map[string]struct {
		fault   chaos.Fault
		answers []error
		want    error
	}{
		"all":                  {slow, []error{nil, nil}, nil},
		"one of two":           {slow, []error{gone, nil}, nil},
		"nobody is there":      {slow, []error{gone, gone}, errNoTarget},
		"it was killed then":   {slow, []error{cut}, errNoTarget},
		"it has crashed of it": {crash, []error{cut}, nil},
		"one refuses":          {slow, []error{nil, refused}, refused},
	} {
		i, names := 0, make([]string, len(c.answers))
		err := ifReachable(mayEnd(c.fault, func(context.Context, string) error { i++; return c.answers[i-1] }))(t.Context(), names)
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}
