//go:build soak

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// soakJobs are run one after the other, and two of them at once.
var soakJobs = [][]string{
	{"wordcount", "-D", "mapreduce.job.reduces=2"},
	{"wordcount", "-D", "mapreduce.job.reduces=3", "-D", "hammr.preempt.checkpoint.copies=output"},
	{"wordcount", "-D", "mapreduce.job.reduces=0"},
	{"sort", "-r", "2"},
	{"wordcountpipe", "-D", "mapreduce.job.reduces=2", "-D", "hammr.debug.record.sleep=2ms"},
	{"streamcount", "-D", "mapreduce.job.reduces=2", "-D", "hammr.debug.record.sleep=2ms"}, // delay for each word
}

// failoverSoak runs jobs while their tasks are preempted and masters fail.
type failoverSoak struct {
	*rigged
	random   *rand.Rand // of the disturbances
	in       string
	want     []string // output of each of soakJobs without disturbances
	counts   map[string]int
	jobs     int
	disturbs sync.WaitGroup
}

// TestSoakFailovers runs jobs on three masters and three tasknodes. A seed decides when it
// preempts attempts, and kills and suspends masters. It compares the output with that of
// undisturbed runs. HAMMR_SOAK_DURATION is the duration, a minute by default.
// HAMMR_SOAK_SEED is the first seed, the time by default. Which attempt or master is hit
// depends on timing.
func TestSoakFailovers(t *testing.T) {
	duration, seed := time.Minute, soakSeed(t)
	if text := os.Getenv("HAMMR_SOAK_DURATION"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		must.Do(t, err)
	}
	t.Logf("seed %d", seed)
	s := &failoverSoak{rigged: newRigged(t, 3), random: rand.New(rand.NewPCG(seed, 3)), in: proseFile(t, "prose", 120<<10), counts: make(map[string]int)}
	for i, args := range soakJobs {
		s.want = append(s.want, filepath.Join(t.TempDir(), "want", fmt.Sprint(i)))
		done(t, slices.Concat([]string{"run", args[0], "--quiet"}, manySplits, args[1:], []string{s.in, s.want[i]})...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer func() {
		cancel()
		s.disturbs.Wait()
		t.Logf("%d jobs, %v", s.jobs, s.counts)
	}()
	s.disturbs.Go(func() { s.disturb(ctx) })
	random := rand.New(rand.NewPCG(seed, 4))
	for over := time.Now().Add(duration); s.jobs == 0 || time.Now().Before(over) && !t.Failed(); {
		s.pair(random.IntN(len(soakJobs)), random.IntN(len(soakJobs)))
	}
}

// pair runs two jobs at the same time.
func (s *failoverSoak) pair(kinds ...int) {
	s.t.Helper()
	dir := s.t.TempDir()
	var running []*process
	for i, kind := range kinds {
		args := soakJobs[kind]
		running = append(running, start(s.t, s.command(slices.Concat([]string{"run", args[0], "--quiet"}, preemptible, args[1:],
			[]string{s.in, filepath.Join(dir, fmt.Sprint(i))})...)))
	}
	for i, p := range running {
		p.wait(s.t).want(s.t, 0)
		wantSameTree(s.t, filepath.Join(dir, fmt.Sprint(i)), s.want[kinds[i]])
		s.jobs++
	}
	must.Do(s.t, os.RemoveAll(dir)) // the directories of an hour would fill the disk
}

// disturb causes a disturbance about every two seconds: one in five is a fault of a master,
// the others preempt attempts. With shorter intervals the few reduces at the end of a job
// would be killed before they make progress. A disturbance that is impossible, because no
// master leads or the attempt has ended, is counted as left out.
func (s *failoverSoak) disturb(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(500+s.random.IntN(2500)) * time.Millisecond):
		}
		mode, act := "preempted", s.preempt
		if s.random.IntN(5) == 0 {
			mode, act = s.fault()
		}
		if err := act(ctx); err == nil {
			s.counts[mode]++
		} else if ctx.Err() == nil {
			s.counts["left out"]++
		}
	}
}

// fault chooses a fault for a master, or for all.
func (s *failoverSoak) fault() (string, func(context.Context) error) {
	masters, _ := s.rig.Names()
	away := time.Duration(s.random.IntN(3000)) * time.Millisecond
	switch s.random.IntN(5) {
	case 0:
		return "all masters killed", func(ctx context.Context) error { return s.kill(ctx, away, masters...) }
	case 1:
		return "leader stopped", func(ctx context.Context) error {
			info, err := s.client.Info(ctx)
			if err == nil && info.Leader != "" {
				err = s.rig.Stop(ctx, info.Leader)
				wait(ctx, away)
				return errors.Join(err, s.rig.Continue(context.WithoutCancel(ctx), info.Leader))
			}
			return err
		}
	}
	return "leader killed", func(ctx context.Context) error {
		info, err := s.client.Info(ctx)
		if err != nil || info.Leader == "" {
			return fmt.Errorf("nobody leads: %w", err)
		}
		return s.kill(ctx, away, info.Leader)
	}
}

// preempt preempts one of the running attempts with a random mode.
func (s *failoverSoak) preempt(ctx context.Context) error {
	return s.preemptAny(ctx, s.random, []string{"split", "checkpoint", "suspend", "kill"}[s.random.IntN(4)])
}
