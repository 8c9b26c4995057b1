package web

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/profile"
)

// ProfileSource takes profiles and stacks of the processes of a cluster.
type ProfileSource interface {
	// Profile takes a profile, which may last as long as the query says. The error wraps ErrRefused if the process cannot answer, such as that of a
	// suspended attempt.
	Profile(ctx context.Context, q ProfileQuery) (ProfileData, error)
}

// ProfileData is a profile in the format of pprof, or stacks as text.
type ProfileData struct {
	Bytes []byte // at most profile.MaxBytes
	Note  string // what a reader must know of it; "" for nothing
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
func (NoProfiles) Profile(context.Context, ProfileQuery) (p ProfileData, err error) {
	return p, fmt.Errorf("these pages show no running processes, so there are no profiles; open those of a cluster: %w", ErrRefused)
}
