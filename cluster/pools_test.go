package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestJobsAreInPoolsThatThereAre(t *testing.T) {
	s := New("1")
	apply(t, s, submit(1, 0))
	if j := s.View().Job(job1); j.Spec.Pool != DefaultPool {
		t.Errorf("a job that names no pool is in %q", j.Spec.Pool)
	}
	strange := submit(1, 0)
	strange.Spec.Pool = "nightly"
	for _, c := range []Command{strange, SetPool{job1, "nightly"}} {
		_, err := s.Apply(Entry{Command: c})
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `pool "nightly": not one of default`) {
			t.Errorf("%T: %v", c, err)
		}
	}
	apply(t, s, SetPools{[]string{"nightly", "default", "adhoc", "nightly"}})
	if got := s.View().Pools(); !slices.Equal(got, []string{"adhoc", "default", "nightly"}) {
		t.Errorf("pools are %q", got)
	}
	if delta := apply(t, s, strange, SetPool{job1, "nightly"}); !slices.Equal(delta.Jobs, []JobID{job1}) {
		t.Errorf("a move tells of %v", delta.Jobs)
	}
	apply(t, s, SetPools{}) // removing pools leaves jobs in them
	for j := range s.View().Jobs() {
		if j.Spec.Pool != "nightly" {
			t.Errorf("%v is in %q", j.ID, j.Spec.Pool)
		}
	}
	apply(t, s, KillJob{job1, "x"}, CloseJob{job1})
	if _, err := s.Apply(Entry{Command: SetPool{job1, DefaultPool}}); !errors.Is(err, ErrRefused) {
		t.Errorf("a job that is over is moved: %v", err)
	}
}
