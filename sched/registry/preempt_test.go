package registry

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/preempt"
)

// TestPreemptSettingsOfEveryPolicy checks that these settings are taken out of a policy's
// settings, and that missing ones change nothing.
func TestPreemptSettingsOfEveryPolicy(t *testing.T) {
	before := preempt.Config{MinRunMillis: 5, Costs: preempt.Costs{TaskBytes: 7, DiskRate: 8, SplitMillis: 9, SlotFreeLatency: 10}}
	for name, tt := range map[string]struct {
		conf  map[string]string
		want  preempt.Config
		rest  string // settings that are left, joined
		wrong []string
	}{
		"none": {want: before},
		"all": {
			conf: map[string]string{MinRun: "1", TaskMemory: "2000000000", DiskRate: "3", SplitTime: "4", SlotFreeLatency: "6"},
			want: preempt.Config{MinRunMillis: 1, Costs: preempt.Costs{TaskBytes: 2e9, DiskRate: 3, SplitMillis: 4, SlotFreeLatency: 6}},
		},
		"one, and one that is not ours": {
			conf: map[string]string{DiskRate: "250000000", "mapred.x": "y"}, rest: "mapred.x",
			want: preempt.Config{MinRunMillis: 5, Costs: preempt.Costs{TaskBytes: 7, DiskRate: 250e6, SplitMillis: 9, SlotFreeLatency: 10}},
		},
		"none at all": {conf: map[string]string{MinRun: "never"}, want: preempt.Config{MinRunMillis: -1, Costs: before.Costs}},
		"faults": {
			conf: map[string]string{MinRun: "-1", TaskMemory: "1g", DiskRate: "0", SplitTime: "1e3", SlotFreeLatency: "10000000000000000"},
			want: before, wrong: []string{MinRun, TaskMemory, DiskRate, SplitTime, SlotFreeLatency},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, given := before, maps.Clone(tt.conf)
			rest, err := takePreempt("fifo", tt.conf, &config)
			if config != tt.want {
				t.Errorf("%+v, want %+v", config, tt.want)
			}
			if !maps.Equal(tt.conf, given) {
				t.Errorf("what was given is now %v", tt.conf)
			}
			checkTaken(t, rest, tt.rest, err, tt.wrong)
		})
	}
}

// checkTaken checks which settings are left, and that the error names each wrong one once.
func checkTaken(t *testing.T, rest map[string]string, left string, err error, wrong []string) {
	t.Helper()
	if got := strings.Join(slices.Collect(maps.Keys(rest)), " "); got != left {
		t.Errorf("left are %q, want %q", got, left)
	}
	if (err == nil) != (len(wrong) == 0) {
		t.Errorf("error %v", err)
	}
	for _, f := range wrong {
		if strings.Count(err.Error(), f+": ") != 1 {
			t.Errorf("no %s in %v", f, err)
		}
	}
}
