// Command failover measures how long a cluster of three masters on this machine, each
// a process, takes until it serves again after its leader is killed, stopped, or has a
// disk that stalls:
//
//	go run ./bench/cmd/failover -hammr bin/hammr -rounds 20
//
// It prints a row for each fault. The time is from right before the fault to the first
// answer of another master to a client that changes something, so that the change is
// in the log of a majority; the client asks again and again. Figures depend on what
// else the machine does, and on -election and -stall.
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
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("failover: ")
	program := flag.String("hammr", "bin/hammr", "`file` of the hammr program")
	rounds := flag.Int("rounds", 20, "`number` of faults of each kind")
	kinds := flag.String("faults", "killed,stopped,stalled", "`faults`, joined by commas")
	election := flag.Duration("election", 500*time.Millisecond, "`silence` of the leader after which another is voted for")
	stall := flag.Duration("stall", 7*time.Second, "`time` after which a leader gives up whose log cannot be written")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := []string{"--election-timeout", millis(*election), "--stall-timeout", millis(*stall)}
	if err := run(ctx, *program, strings.Split(*kinds, ","), *rounds, flags); err != nil {
		log.Fatal(err)
	}
}

// millis is a time as daemons take it, who know no fractions.
func millis(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

func run(ctx context.Context, program string, kinds []string, rounds int, flags []string) (err error) {
	if rounds < 1 {
		return fmt.Errorf("-rounds %d: expected 1 or more", rounds)
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	for _, kind := range kinds {
		if faults[kind] == nil {
			return fmt.Errorf("-faults: %q: expected killed, stopped or stalled", kind)
		}
	}
	dir, err := os.MkdirTemp("", "failover-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b, err := begin(ctx, program, filepath.Join(dir, "cluster"), flags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	fmt.Println("| leader | rounds | p50 ms | p95 | most |\n|---|--:|--:|--:|--:|")
	for _, kind := range kinds {
		var all []time.Duration
		for n := range rounds {
			took, err := b.round(ctx, faults[kind])
			if err != nil {
				return fmt.Errorf("%s, round %d: %w", kind, n+1, err)
			}
			all = append(all, took)
		}
		fmt.Println(row(kind, all))
	}
	return nil
}
