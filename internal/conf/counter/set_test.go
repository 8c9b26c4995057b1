package counter

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCountersAddUpFromManyGoroutines(t *testing.T) {
	var s Set
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := s.Counter(ID{"g", fmt.Sprint(i % 2)})
			for range 1000 {
				c.Add(1)
			}
		})
	}
	wg.Wait()
	want := Values{"g": {"0": 4000, "1": 4000}}
	if diff := cmp.Diff(want, s.Values()); diff != "" {
		t.Error(diff)
	}
}

func TestLimitBoundsOnlyTheUsersCounters(t *testing.T) {
	var s Set
	s.Limit(Limits{Counters: 2})
	for _, id := range declared {
		s.Add(id, 1)
	}
	for _, name := range []string{"a", "b", "a", "b"} {
		s.Add(ID{"mine", name}, 1)
	}
	if err := s.Err(); err != nil {
		t.Fatalf("at the limit: %v", err)
	}
	for _, name := range []string{"c", "d", "e"} {
		s.Add(ID{"mine", name}, 1)
	}
	err := s.Err()
	if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "mapreduce.job.counters.limit is 2") {
		t.Errorf("beyond the limit: %v", err)
	}
	if diff := cmp.Diff(map[string]int64{"a": 2, "b": 2}, s.Values()["mine"]); diff != "" {
		t.Errorf("counters kept (-want +got):\n%s", diff)
	}
}

func TestCheckLimit(t *testing.T) {
	v := make(Values)
	v.FillZeros(Shape{Reduces: true})
	for i := range 121 {
		v.Add(ID{fmt.Sprint("group", i%3), fmt.Sprint(i)}, 1)
	}
	for limit, ok := range map[int]bool{-1: true, 0: false, 120: false, 121: true} {
		if err := v.CheckLimit(limit); (err == nil) != ok {
			t.Errorf("CheckLimit(%d) of 121: %v", limit, err)
		}
	}
}

func TestPeaksTakeTheHighest(t *testing.T) {
	job := make(Values)
	for _, attempt := range []int64{10, 30, 20} {
		job.Add(PeakMapPhysicalBytes, attempt)
		job.Add(PhysicalMemoryBytes, attempt)
	}
	if got := job.Get(PeakMapPhysicalBytes); got != 30 {
		t.Errorf("peak of 10, 30, 20 = %d", got)
	}
	if got := job.Get(PhysicalMemoryBytes); got != 60 {
		t.Errorf("sum of 10, 30, 20 = %d", got)
	}
	for _, id := range declared { // package cluster knows peaks by their names
		if named := id.Group == GroupFramework && strings.HasPrefix(id.Name, "Peak "); named != id.IsPeak() {
			t.Errorf("%q: by its name a peak: %v, declared as one: %v", id, named, id.IsPeak())
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	v := Values{"g": {"n": 1}}
	c := v.Clone()
	c.Add(ID{"g", "n"}, 1)
	c.Add(ID{"h", "n"}, 1)
	if diff := cmp.Diff(Values{"g": {"n": 1}}, v); diff != "" {
		t.Error(diff)
	}
}

func TestMaxNeverLowers(t *testing.T) {
	var c Counter
	for _, n := range []int64{3, 9, 4} {
		c.Max(n)
	}
	if c.Value() != 9 {
		t.Errorf("Max of 3, 9, 4 = %d", c.Value())
	}
}

// TestLimitsNameWhatExceedsThem makes a counter beyond each limit. It is not kept, and the error
// names it and the property.
func TestLimitsNameWhatExceedsThem(t *testing.T) {
	for want, id := range map[string]ID{
		`counter "c" of group "g": number of counters: 3, and mapreduce.job.counters.limit is 2`:  {"g", "c"},
		`counter "a" of group "h": number of groups: 2, and mapreduce.job.counters.groups.max is`: {"h", "a"},
		"mapreduce.job.counters.counter.name.max is 4":                                            {"g", "abcde"},
		"mapreduce.job.counters.group.name.max is 3":                                              {"long", "a"},
	} {
		var s Set
		s.Limit(Limits{Counters: 2, Groups: 1, NameBytes: 4, GroupBytes: 3})
		s.Add(ID{"g", "a"}, 1)
		s.Add(ID{"g", "b"}, 1)
		s.Add(id, 1)
		s.Add(ID{"g", "a"}, 1)
		if err := s.Err(); !errors.Is(err, ErrLimit) || !strings.Contains(strings.ReplaceAll(err.Error(), " is beyond the limit", ""), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if diff := cmp.Diff(Values{"g": {"a": 2, "b": 1}}, s.Values()); diff != "" {
			t.Errorf("counters kept (-want +got):\n%s", diff)
		}
	}
}
