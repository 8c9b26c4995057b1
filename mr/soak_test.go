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

// soakDuration is for how long a soak goes on: HAMMR_SOAK_DURATION, a minute when
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

// soakSeed is the seed of the first run: HAMMR_SOAK_SEED, the time when unset.
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

// TestSoakSameBytesWhateverHappens disturbs jobs drawn by seed, one seed after the
// other, and tells each minute what has happened so far. The name of a run has its
// seed: HAMMR_SOAK_SEED set to it, and HAMMR_SOAK_DURATION=1ns, play it again.
func TestSoakSameBytesWhateverHappens(t *testing.T) {
	t.Parallel()
	names, labels := slices.Sorted(maps.Keys(disturbedJobs(nil))), slices.Sorted(maps.Keys(variants))
	over, next := time.Now().Add(soakDuration(t)), time.Now().Add(time.Minute)
	runs, bytes := 0, 0
	var all tally
	tell := func() {
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
			tell()
			next = next.Add(time.Minute)
		}
	}
	tell()
}
