package docs

import (
	"fmt"

	"github.com/hammr/hammr/internal/logs/profile"
)

// LogStreams are the output streams of an attempt.
var LogStreams = []string{"stdout", "stderr"}

// MaxLogBytes bounds a part of a log.
const MaxLogBytes = 1 << 20

// LogRange says which part of a log is wanted.
type LogRange struct {
	From int64 // first byte; if negative, so many bytes before the end
	Max  int64 // bytes at most; 0 for as many as the source sends at once
}

// LogPart is a part of a log.
type LogPart struct {
	Text     []byte
	Offset   int64 // of Text, in bytes
	Size     int64 // bytes that the log has so far
	Complete bool  // the attempt is over: nothing will be added
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

// NoProfile is Source.Profile of a cluster that has no processes.
func NoProfile() (p ProfileData, err error) {
	return p, fmt.Errorf("these pages show no running processes, so there are no profiles; open the pages of a running cluster: %w", ErrRefused)
}

// HeaderProfileNote is a header of answers with a profile: ProfileData.Note.
const HeaderProfileNote = "Hammr-Profile-Note"
