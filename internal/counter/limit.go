package counter

import (
	"errors"
	"fmt"
)

// DefaultLimit is the default of mapreduce.job.counters.limit.
const DefaultLimit = 120

// ErrLimit marks a job that counts under more names than it may.
var ErrLimit = errors.New("too many counters")

// user reports whether the counter is the user's and not the engine's.
func (id ID) user() bool {
	_, engine := groupRank[id.Group]
	return !engine
}

// CheckLimit is an error that wraps ErrLimit if v has more than limit counters
// in the user's groups. The engine's own are not limited. A limit of 0 allows
// none; a negative one allows any number.
func (v Values) CheckLimit(limit int) error {
	n := 0
	for group, names := range v {
		if (ID{Group: group}).user() {
			n += len(names)
		}
	}
	return checkLimit(n, limit)
}

func checkLimit(n, limit int) error {
	if limit < 0 || n <= limit {
		return nil
	}
	return fmt.Errorf("%w: %d, and mapreduce.job.counters.limit is %d; "+
		"count under fewer names (never under names taken from the data) or raise the limit",
		ErrLimit, n, limit)
}
