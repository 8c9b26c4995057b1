// Calibrate runs a workload on a real cluster of this machine under several
// policies and reports how well the simulator predicts it:
//
//	go build -o hammr ./cmd/hammr && go run ./bench/cmd/calibrate -hammr ./hammr -out DIR
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/bench/calibrate"
	"github.com/hammr/hammr/bench/live"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("calibrate: ")
	hammr := flag.String("hammr", "hammr", "`file` of the hammr program")
	out := flag.String("out", "", "`directory` for calibration.csv, which must not exist")
	policies := flag.String("policies", "fifo,fair,hfsp", "`names` of policies")
	plan := flag.String("plan", "", "`name` of the one plan to run: sleeping or busy")
	megabytes := flag.Int("text", 512, "size of the text that the control counts the words of, `MB`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *hammr, *out, strings.Split(*policies, ","), *plan, *megabytes); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, hammr, out string, policies []string, only string, megabytes int) (err error) {
	if out == "" {
		return errors.New("-out DIR is missing")
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	if hammr, err = filepath.Abs(hammr); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "calibrate-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	text := filepath.Join(work, "text")
	if err := os.WriteFile(text, words(megabytes<<20), 0o666); err != nil {
		return err
	}
	if err := live.EnvironmentOf(work, nil).Write(out); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(out, "calibration.csv"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, plan := range []live.Plan{calibrate.SleepingPlan(), calibrate.ComputePlan(text)} {
		if only != "" && only != plan.Name {
			continue
		}
		outcomes, err := calibrate.Run(ctx, calibrate.Config{
			Hammr: hammr, Work: filepath.Join(work, plan.Name), Plan: plan, Policies: policies,
			Nodes: 3, MapSlots: 2, ReduceSlots: 1,
		}, log.Printf)
		if err != nil {
			return err
		}
		if err := errors.Join(calibrate.WriteCSV(f, plan.Name, outcomes), calibrate.WriteTable(os.Stdout, plan, outcomes)); err != nil {
			return err
		}
	}
	return nil
}

// words is a text of so many bytes, the same for each size.
func words(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 0, size+32)
	for len(text) < size {
		text = fmt.Appendf(text, "w%d ", random.IntN(100_000))
		if random.IntN(10) == 0 {
			text = append(text, '\n')
		}
	}
	return append(text[:size-1], '\n')
}
