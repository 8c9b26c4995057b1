package web

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/profile"
)

// ProfileSource takes profiles and stacks of the processes of a cluster.
type ProfileSource interface {
	// Profile takes a profile, which may last as long as the query says. It has at most
	// profile.MaxBytes. The error wraps ErrRefused if the process cannot answer, such as that of a
	// suspended attempt.
	Profile(ctx context.Context, q ProfileQuery) ([]byte, error)
}

// ProfileQuery says which profile is wanted, and of which process.
type ProfileQuery struct {
	Object string // attempt, node or master
	ID     string // of a running attempt, or the name of a daemon
	User   string // who wants it, for logs; "" if unknown
	profile.Query
}

// NoProfiles is the ProfileSource of a program whose cluster has no processes.
type NoProfiles struct{}

var _ ProfileSource = NoProfiles{}

// Profile implements ProfileSource.
func (NoProfiles) Profile(context.Context, ProfileQuery) ([]byte, error) {
	return nil, fmt.Errorf("these pages show no running processes, so there are no profiles; open those of a cluster: %w", ErrRefused)
}
