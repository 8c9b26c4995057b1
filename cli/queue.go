package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// newQueue returns the verbs of `mapred queue`. Schedulers call a queue a pool.
func (r clusterCommands) newQueue() *cobra.Command {
	return group(&cobra.Command{
		Use:     "queue",
		Short:   "Inspect queues of jobs, also called pools",
		Example: "  hammr queue list",
	}, r.newQueueList(), r.newQueueInfo())
}

// newQueueList lists the queues that accept jobs, and closed queues that still have jobs.
func (r clusterCommands) newQueueList() *cobra.Command {
	return show(r, &cobra.Command{
		Use:     "list",
		Short:   "List the queues that accept or have jobs",
		Example: "  hammr queue list --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) ([]apidoc.Queue, error) {
		return docs.Pools.From(ctx, q, docs.No{})
	}, func(q *query, queues []apidoc.Queue) {
		for _, queue := range queues {
			writeQueue(q.stdout, queue)
		}
	})
}

// queueInfo is the answer that `queue info` prints. Jobs.List is not nil with --show-jobs.
type queueInfo struct {
	policy string
	apidoc.Queue
}

// newQueueInfo shows one queue. It exits with 1 if no queue has that name.
func (r clusterCommands) newQueueInfo() *cobra.Command {
	var showJobs bool
	cmd := show(r, &cobra.Command{
		Use:     "info QUEUE [--show-jobs]",
		Short:   "Show the configuration, fair share and use of a queue",
		Example: "  hammr queue info research --show-jobs",
		Args:    oneArg("the name of a queue"),
	}, func(ctx context.Context, q *query) (info queueInfo, err error) {
		name := q.args[0]
		if info.Queue, err = docs.Pool.From(ctx, q, docs.PoolID{Pool: name}); err != nil {
			return info, knownAs("queue", name, err)
		}
		policy, err := docs.Policy.From(ctx, q, docs.No{})
		if err != nil {
			return info, err
		}
		info.policy = policy.Policy
		if showJobs {
			all, err := docs.AllJobs.From(ctx, q, docs.AllQuery{})
			if err != nil {
				return info, err
			}
			info.Jobs.List = slices.DeleteFunc(append([]apidoc.Job{}, all...), func(j apidoc.Job) bool { return j.Queue != info.Name })
		}
		return info, nil
	}, func(q *query, i queueInfo) {
		writeQueue(q.stdout, i.Queue)
		writeAllotment(q.stdout, i.policy, i.Allotment)
		if i.Jobs.List != nil {
			q.writeJobs(i.Jobs.List)
		}
	})
	cmd.Flags().BoolVar(&showJobs, "show-jobs", false, "list the unfinished jobs of the queue too")
	return cmd
}

// writeQueue prints the lines of `mapred queue -list`. Shares are there only if the policy
// divides the cluster among queues.
func writeQueue(w io.Writer, q apidoc.Queue) {
	fmt.Fprintln(w, "======================")
	fmt.Fprintf(w, "Queue Name : %s\n", q.Name)
	fmt.Fprintf(w, "Queue State : %s\n", strings.ToLower(q.State))
	info := fmt.Sprintf("%d jobs run, %d wait; %s slots in use, %s waited for", q.Jobs.Running, q.Jobs.Waiting, slotCount(q.Running), slotCount(q.Waiting))
	if a := q.Allotment; a != nil {
		info += fmt.Sprintf("; fair share %s map, %s reduce", decimalText(a.Share.Map), decimalText(a.Share.Reduce))
	}
	fmt.Fprintf(w, "Scheduling Info : %s\n", info)
}

// writeAllotment prints the configured shares of a queue, if the policy has queues; other
// policies treat all jobs as one list.
func writeAllotment(w io.Writer, policy string, a *apidoc.Allotment) {
	if a == nil {
		fmt.Fprintf(w, "Policy %s does not divide the cluster among queues\n", policy)
		return
	}
	fmt.Fprintf(w, "Order of its jobs : %s\n", a.Order)
	fmt.Fprintf(w, "Weight : %s\n", decimalText(a.Weight))
	fmt.Fprintf(w, "Minimum : %s slots\n", slotCount(a.Min))
	fmt.Fprintf(w, "Maximum : %s slots, %s running jobs\n", slotCount(a.Max), limitText(a.MaxJobs))
	fmt.Fprintf(w, "Waiting for the maximum : %d jobs\n", a.WaitJobs)
}

// slotCount formats slots of each kind; a number below 0 means no limit.
func slotCount(s apidoc.Slots) string {
	return limitText(s.Map) + " map, " + limitText(s.Reduce) + " reduce"
}

// limitText formats a limit; a number below 0 means no limit.
func limitText(n int32) string {
	if n < 0 {
		return "unlimited"
	}
	return strconv.Itoa(int(n))
}

// decimalText formats a number with at most two decimals, without zeros at the end: 1.5, 2.
func decimalText(x float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0"), ".")
}
