package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/registry"
)

// warnClosedPools tells of pools in the allocation file of a policy that no job can be put
// into. The file says what pools get; into which ones jobs may go is up to the masters.
func (q *query) warnClosedPools(ctx context.Context, conf settings) error {
	if conf[registry.Allocations] == "" {
		return nil
	}
	described, err := pool.Parse(conf[registry.AllocationFile], []byte(conf[registry.Allocations]))
	if err != nil {
		return err
	}
	answer, err := q.Queues(ctx)
	if err != nil {
		return err
	}
	closed := described.LeafNames()
	for _, queue := range answer.Queues {
		if queue.State == "RUNNING" {
			name := described.Find(queue.Name).Name
			closed = slices.DeleteFunc(closed, func(other string) bool { return other == name })
		}
	}
	if len(closed) > 0 {
		fmt.Fprintf(q.stderr, "hammr: no job can be put into %s: pools that jobs may choose are named by --pools or --allocation-file of the jobmasters\n",
			strings.Join(closed, ", "))
	}
	return nil
}
