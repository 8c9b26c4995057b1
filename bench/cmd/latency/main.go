// Latency measures how long it takes, on a cluster of processes on this machine, from
// an order that takes a slot to the slot in somebody else's hands:
//
//	go run ./bench/cmd/latency -hammr bin/hammr -out DIR -orders 40
//
// DIR gets latency.csv, a line for each order, and environment.json; a table is
// printed. What is measured stands in bench/live, at Orders.
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
	"strings"

	"github.com/hammr/hammr/bench/live"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("latency: ")
	hammr := flag.String("hammr", "bin/hammr", "`file` of the hammr program")
	out := flag.String("out", "", "`directory` for latency.csv, which must not exist")
	orders := flag.Int("orders", 40, "`number` of orders of each kind")
	only := flag.String("only", "", "kinds of orders that have this `text` in their names")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *hammr, *out, *orders, *only); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, hammr, out string, orders int, only string) (err error) {
	if out == "" {
		return errors.New("-out DIR is missing")
	}
	if orders < 1 {
		return fmt.Errorf("-orders %d: expected 1 or more", orders)
	}
	if hammr, err = filepath.Abs(hammr); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	work, err := os.MkdirTemp("", "latency-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := live.EnvironmentOf(work, map[string]string{"orders": fmt.Sprint(orders)}).Write(out); err != nil {
		return err
	}
	rate, err := live.DiskRate(work)
	if err != nil {
		return err
	}
	log.Printf("the disk takes %.0f MB/s", rate/1e6)
	list, err := measure(ctx, live.PreemptionLatency{Hammr: hammr, Work: work, Orders: orders, Logf: log.Printf}, only)
	f, failed := os.Create(filepath.Join(out, "latency.csv"))
	if failed != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(err, live.WriteLatencies(f, list, rate), f.Close(), live.WriteLatencyTable(os.Stdout, list, rate))
}

// measure gives the orders of all kinds; with an error it returns what became of those
// before.
func measure(ctx context.Context, o live.PreemptionLatency, only string) (all []live.Latency, err error) {
	for _, kind := range live.OrderKinds {
		if !strings.Contains(kind.Name, only) {
			continue
		}
		o.Logf("%s, %d times", kind.Name, o.Orders)
		list, err := o.Measure(ctx, kind)
		all = append(all, list...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}
