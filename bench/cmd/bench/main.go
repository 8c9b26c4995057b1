// Command bench runs the benchmark kit; see package bench.
//
//	go run ./bench/cmd/bench -case 'terasort*,wordcount' -rounds 5 -size 1g
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/hammr/hammr/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg := bench.Config{Dir: os.Getenv("BENCH_DIR"), Yardstick: os.Getenv("YARDSTICK_DIR")}
	list := flag.Bool("list", false, "list the cases and exit")
	flag.IntVar(&cfg.Rounds, "rounds", 5, "`times` each side is measured")
	flag.BoolVar(&cfg.Cold, "cold", false, "measure without a run before that warms the memory")
	flag.StringVar(&cfg.Results, "results", "", "`directory` for the results (default bench/results)")
	flag.Func("case", "`cases` to run, with commas between; patterns as in wordcount*", func(s string) error {
		cfg.Cases = append(cfg.Cases, strings.Split(s, ",")...)
		return nil
	})
	flag.Func("size", "`bytes` of the main input, with k, m or g (default 1g)", func(s string) (err error) {
		cfg.SizeBytes, err = parseSize(s)
		return err
	})
	flag.Parse()
	if *list {
		bench.List(os.Stdout)
		return
	}
	if err := bench.Run(ctx, cfg); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parseSize reads a number with perhaps a unit of 1024.
func parseSize(s string) (int64, error) {
	number, shift := strings.ToLower(s), 0
	for i, unit := range []string{"k", "m", "g"} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > 1<<40>>shift {
		return 0, fmt.Errorf("%q is not a size such as 512m", s)
	}
	return n << shift, nil
}
