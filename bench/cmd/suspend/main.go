// Suspend measures what suspending and resuming a task costs, against the memory that
// it holds, with a swap file inside a control group for memory (Fig. 8 of HFSP's
// paper):
//
//	go run ./bench/cmd/suspend -out DIR -swap-dir /var/tmp -rounds 5
//
// It takes root. DIR gets suspend.csv, suspend.svg and suspend.png. What it sets up
// is gone when it ends, also on Ctrl-C. Without swap or control groups it says so,
// and measures what frozen tasks cost that keep their pages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hammr/hammr/bench/suspend"
)

func main() {
	suspend.Task()
	log.SetFlags(0)
	log.SetPrefix("suspend: ")
	out := flag.String("out", "", "`directory` for suspend.csv and pictures, which must not exist")
	swapDir := flag.String("swap-dir", os.TempDir(), "`directory` for the swap file")
	sizes := flag.String("mib", "102,256,512,1024,2048", "footprints of tasks, `MiB`")
	rounds := flag.Int("rounds", 5, "`number` of measurements of each footprint in each arm")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out, *swapDir, *sizes, *rounds); err != nil {
		stop()
		log.Fatal(err)
	}
}

func run(ctx context.Context, out, swapDir, sizes string, rounds int) error {
	footprints, err := footprintsOf(sizes)
	if err != nil {
		return err
	}
	if out == "" {
		return errors.New("-out DIR is missing")
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	samples, err := measure(ctx, swapDir, footprints, rounds)
	if err != nil {
		return err
	}
	return report(out, samples)
}

func footprintsOf(text string) (bytes []int64, err error) {
	for field := range strings.SplitSeq(text, ",") {
		mib, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
		if err != nil || mib < 1 || mib > 1<<20 {
			return nil, fmt.Errorf("-mib %q: expected whole numbers above 0, joined by commas", text)
		}
		bytes = append(bytes, mib<<20)
	}
	return bytes, nil
}

// measure takes the arms in turn.
func measure(ctx context.Context, swapDir string, footprints []int64, rounds int) (samples []suspend.Sample, err error) {
	cage, why := suspend.NewCage(swapDir, slices.Max(footprints)*5/4+256<<20)
	defer func() { err = errors.Join(err, cage.Close()) }()
	if why != nil {
		log.Printf("no swap: %v; tasks keep their pages, and nothing else is measured", why)
	}
	for round := range rounds {
		for _, footprint := range footprints {
			for arm := range 2 {
				pressed := (arm+round)%2 == 0
				if pressed && !cage.Swaps() {
					continue
				}
				s, err := cage.Measure(ctx, footprint, pressed)
				if err != nil {
					return samples, err
				}
				log.Printf("round %d, %d MiB, %s: suspend %v, resume %v", round+1, footprint>>20, s.Arm(), s.Suspend(), s.Resume())
				samples = append(samples, s)
			}
		}
	}
	return samples, nil
}

func report(out string, samples []suspend.Sample) error {
	f, err := os.Create(filepath.Join(out, "suspend.csv"))
	if err != nil {
		return err
	}
	if err := errors.Join(suspend.WriteCSV(f, samples), f.Close()); err != nil {
		return err
	}
	costs := suspend.CostsOf(samples)
	if err := suspend.WriteTable(os.Stdout, costs); err != nil {
		return err
	}
	if last := costs[len(costs)-1]; last.Rate > 0 {
		fmt.Printf("hammr scheduler set POLICY --conf hammr.preempt.disk.rate=%.0f\n", last.Rate)
	}
	return suspend.Draw(costs).Save(out, "suspend")
}
