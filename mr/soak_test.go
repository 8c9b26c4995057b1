//go:build soak

package mr

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// soakDuration returns the duration of a soak test: HAMMR_SOAK_DURATION, or one minute if
// unset.
func soakDuration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("HAMMR_SOAK_DURATION")
	if text == "" {
		return time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("HAMMR_SOAK_DURATION: %v", err)
	}
	return d
}

// soakSeed returns the seed of the first run: HAMMR_SOAK_SEED, or the current time if unset.
func soakSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("HAMMR_SOAK_SEED")
	if text == "" {
		return uint64(time.Now().Unix())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("HAMMR_SOAK_SEED: %v", err)
	}
	return seed
}

// TestSoakSameBytesWhateverHappens disturbs random jobs, one seed after the other, and logs
// the tally every minute. The name of each run contains its seed. To repeat a run, set
// HAMMR_SOAK_SEED to that seed and HAMMR_SOAK_DURATION=1ns.
func TestSoakSameBytesWhateverHappens(t *testing.T) {
	t.Parallel()
	names, labels := slices.Sorted(maps.Keys(disturbedJobs(nil))), slices.Sorted(maps.Keys(variants))
	over, next := time.Now().Add(soakDuration(t)), time.Now().Add(time.Minute)
	runs, bytes := 0, 0
	var all tally
	show := func() {
		t.Logf("%d runs: %d splits, %d pauses, %d moves to another machine, %d kills, %d bytes compared", runs, all.splits, all.pauses, all.moves, all.kills, bytes)
	}
	for seed := soakSeed(t); runs == 0 || time.Now().Before(over) && !t.Failed(); seed++ {
		rng := rand.New(rand.NewPCG(seed, 2))
		name, label := names[rng.IntN(len(names))], labels[rng.IntN(len(labels))]
		t.Run(fmt.Sprintf("%s/%s/seed=%d", name, label, seed), func(t *testing.T) {
			size, tally := checkDisturbed(t, name, variants[label], seed)
			all.add(tally)
			bytes += size
		})
		if runs++; time.Now().After(next) {
			show()
			next = next.Add(time.Minute)
		}
	}
	show()
}
