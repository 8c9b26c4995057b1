package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestInOrder fails at each step, and checks what was started and undone by then.
func TestInOrder(t *testing.T) {
	late := errors.New("late")
	for failing, want := range map[string][]string{
		"":  {"start a", "start b", "start c"},
		"a": {"start a", "undo a"},
		"b": {"start a", "start b", "undo b", "undo a"},
		"c": {"start a", "start b", "start c", "undo b", "undo a"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		var steps []Step
		for _, name := range []string{"a", "b", "c"} {
			steps = append(steps, Step{
				Start: func(context.Context) error {
					got = append(got, "start "+name)
					if name == failing {
						cancel()
						return late
					}
					return nil
				},
				Undo: func(ctx context.Context) error {
					got = append(got, "undo "+name)
					if name == "b" {
						return fmt.Errorf("b stays: %w", errors.ErrUnsupported)
					}
					return ctx.Err()
				},
			})
		}
		steps[2].Undo = nil
		err, left := InOrder(ctx, steps...)
		cancel()
		if !slices.Equal(got, want) || (failing == "") != (err == nil) || failing != "" && !errors.Is(err, late) {
			t.Errorf("%q fails: %q, %v", failing, got, err)
		}
		if wantLeft := slices.Contains(want, "undo b"); wantLeft != (left != nil) || wantLeft && left.Error() != "b stays: unsupported operation" {
			t.Errorf("%q fails: left %v", failing, left)
		}
	}
}
