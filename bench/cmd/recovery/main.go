// Command recovery measures how long tasks that were lost with a machine wait for a
// slot, and whether they get one beside their input, on clusters of processes on
// this machine: three masters, four tasknodes and a real HDFS with a DataNode beside
// each. Every slot is taken, half of them by jobs of lesser claim, when a tasknode is
// killed. Tasks sleep at each record, because one machine is not a cluster. It takes
// Java and the jars of a real HDFS.
//
//	go run ./bench/cmd/recovery -hammr bin/hammr -kills 20
//
// It prints a row for each policy and kind of task. The wait of a task is from the
// verdict, which is when its lost attempt ended, to the start of the next one; that
// of a failure, until all that its job had there runs again, is when scheduling is
// right again.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	program := flag.String("hammr", "bin/hammr", "`file` with the program")
	kills := flag.Int("kills", 20, "`number` of tasknodes killed for each row")
	policies := flag.String("policies", "chronos+fifo,chronos+fair", "`policies`, joined by commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, *program, strings.Split(*policies, ","), *kills); err != nil {
		fmt.Fprintf(os.Stderr, "recovery: %v\n", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, program string, policies []string, kills int) (err error) {
	dir, err := os.MkdirTemp("", "recovery")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hdfs, err := startHDFS(ctx, dir)
	if err != nil {
		return err
	}
	defer hdfs.Close()
	homes, err := prepare(ctx, hdfs)
	if err != nil {
		return err
	}
	fmt.Println(header)
	for _, policy := range policies {
		b := &trial{program: program, dir: dir, hdfs: hdfs, homes: homes, policy: policy}
		if err := b.run(ctx, kills); err != nil {
			return fmt.Errorf("%s: %w", policy, err)
		}
	}
	return nil
}
