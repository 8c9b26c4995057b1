package cluster

import (
	"fmt"
	"iter"
	"strings"
)

// outputDirs are the output directories of unfinished jobs. Two of them are never equal, and
// none is inside another, so no job can change the output of another job.
type outputDirs struct {
	jobs  map[string]JobID // the job that writes to a directory, by JobSpec.OutputKey
	below map[string]int   // number of these directories inside a directory; no entry for 0
}

func newOutputDirs() outputDirs {
	return outputDirs{jobs: make(map[string]JobID), below: make(map[string]int)}
}

// parents yields the directories that contain key, the innermost first.
func parents(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			i := strings.LastIndexByte(key, '/')
			if i < 0 || !yield(key[:i]) {
				return
			}
			key = key[:i]
		}
	}
}

// writer returns an unfinished job whose output directory is key, contains it or lies inside
// it. Among several jobs inside it, it returns the oldest.
func (o *outputDirs) writer(key string) (id JobID, ok bool) {
	if key == "" {
		return JobID{}, false
	}
	if id, ok = o.jobs[key]; ok {
		return id, true
	}
	for dir := range parents(key) {
		if id, ok = o.jobs[dir]; ok {
			return id, true
		}
	}
	if o.below[key] == 0 {
		return JobID{}, false
	}
	for dir, other := range o.jobs {
		if strings.HasPrefix(dir, key+"/") && (!ok || other.Number < id.Number) {
			id, ok = other, true
		}
	}
	return id, ok
}

// add adds the directory of a job. A job of an older version has no key.
func (o *outputDirs) add(key string, id JobID) {
	if key == "" {
		return
	}
	o.jobs[key] = id
	for dir := range parents(key) {
		o.below[dir]++
	}
}

// remove removes the directory of a job that has ended.
func (o *outputDirs) remove(key string, id JobID) {
	if writer, ok := o.jobs[key]; !ok || writer != id {
		return
	}
	delete(o.jobs, key)
	for dir := range parents(key) {
		if o.below[dir]--; o.below[dir] == 0 {
			delete(o.below, dir)
		}
	}
}

// checkOutputDir refuses the output directory of a new job if an unfinished job writes there.
func (s *State) checkOutputDir(spec JobSpec) error {
	if other, busy := s.outputs.writer(spec.OutputKey); busy {
		return fmt.Errorf("output directory %s: %v writes to %s and is not finished; wait for it, kill it, or choose another directory",
			spec.OutputDir, other, s.jobs.get(other.Number).Spec.OutputDir)
	}
	return nil
}

// OutputWriter returns the unfinished job whose output directory is that of spec, contains
// it or lies inside it. err says so. A spec without an OutputKey is not checked.
func (v View) OutputWriter(spec JobSpec) (id JobID, err error) {
	id, _ = v.s.outputs.writer(spec.OutputKey)
	return id, v.s.checkOutputDir(spec)
}
