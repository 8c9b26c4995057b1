package cluster

import (
	"fmt"
	"strings"
)

// The output directories of two unfinished jobs are never equal, and none is inside another, so
// no job can change the output of another job.

// writerOf returns the unfinished job whose output directory is key, contains it or lies inside
// it; of several jobs inside it, the oldest; nil for none.
func (s *State) writerOf(key string) *Job {
	if key == "" {
		return nil
	}
	for _, j := range s.jobs {
		other := j.Spec.OutputKey
		if other != "" && !j.State.Final() && (other == key || isInside(key, other) || isInside(other, key)) {
			return j
		}
	}
	return nil
}

// isInside reports whether a directory lies inside another one.
func isInside(dir, parent string) bool {
	rest, found := strings.CutPrefix(dir, parent)
	return found && strings.HasPrefix(rest, "/")
}

// checkOutputDir refuses the output directory of a new job if an unfinished job writes there.
func (s *State) checkOutputDir(spec JobSpec) error {
	if other := s.writerOf(spec.OutputKey); other != nil {
		return fmt.Errorf("output directory %s: %v writes to %s and is not finished; wait for it, kill it, or choose another directory",
			spec.OutputDir, other.ID, other.Spec.OutputDir)
	}
	return nil
}

// OutputWriter returns the unfinished job whose output directory is that of spec, contains
// it or lies inside it. err says so. A spec without an OutputKey is not checked.
func (v View) OutputWriter(spec JobSpec) (id JobID, err error) {
	if other := v.s.writerOf(spec.OutputKey); other != nil {
		id = other.ID
	}
	return id, v.s.checkOutputDir(spec)
}
