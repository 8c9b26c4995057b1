package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/hammr/hammr/chaos"
)

const drillLine = "%-12v %-7v %-5v %-10v %-5v %-6v %-9v %-12v %-11v %-8v %v\n"

func printHead(out io.Writer) {
	fmt.Fprintf(out, drillLine, "seed", "faults", "jobs", "bytes", "lost", "again", "lost ms", "recovery ms", "elapsed ms", "verdict", "kinds")
}

func printRow(out io.Writer, r chaos.Row) {
	fmt.Fprintf(out, drillLine, r.Seed, fmt.Sprintf("%d/%d", r.Faults, r.Planned), r.Jobs, r.Bytes, r.Lost, r.ExtraAttempts,
		r.WorkLost, r.RecoveryMS, r.ElapsedMS, r.Verdict, r.Kinds)
}

// tellTotal prints the sums of the whole table, including earlier drills.
func tellTotal(out io.Writer, table string) error {
	f, err := os.Open(table)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := chaos.ReadTable(f, table)
	if err == nil {
		fmt.Fprintf(out, "%s: %v\n", table, chaos.Sum(rows))
	}
	return err
}

// lasting runs a function on a locked thread: the kernel ends a child with the thread that
// has started it.
func lasting(run func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return run()
}
