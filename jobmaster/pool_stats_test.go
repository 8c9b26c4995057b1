package jobmaster

import (
	"reflect"
	"testing"

	"github.com/hammr/hammr/cluster"
)

func TestPoolsOfStatsAreBounded(t *testing.T) {
	of := func(name string, running, pending int) PoolStats {
		return PoolStats{Name: name, Running: running, Pending: pending, Used: cluster.Slots{running, 0}, Share: [2]float64{1, 2}}
	}
	pools := func() []PoolStats { return []PoolStats{of("d", 0, 0), of("b", 1, 9), of("a", 0, 0), of("c", 5, 0)} }
	if got, want := boundPools(pools(), 4), []PoolStats{of("a", 0, 0), of("b", 1, 9), of("c", 5, 0), of("d", 0, 0)}; !reflect.DeepEqual(got, want) {
		t.Errorf("all pools: %+v, want %+v", got, want)
	}
	other := PoolStats{Name: OtherPools, Running: 5, Used: cluster.Slots{5, 0}, Share: [2]float64{3, 6}}
	if got, want := boundPools(pools(), 1), []PoolStats{of("b", 1, 9), other}; !reflect.DeepEqual(got, want) {
		t.Errorf("one pool: %+v, want %+v", got, want)
	}
}
