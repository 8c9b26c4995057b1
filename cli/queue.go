package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/wire"
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
	}, func(ctx context.Context, q *query) ([]*wire.Queue, error) {
		answer, err := q.Queues(ctx)
		return answer.GetQueues(), err
	}, apidoc.Queues, func(q *query, queues []*wire.Queue) {
		for _, queue := range queues {
			writeQueue(q.stdout, queue)
		}
	})
}

// queueInfo is the answer that `queue info` prints.
type queueInfo struct {
	policy string
	queue  *wire.Queue
	jobs   []*wire.JobStatus // unfinished; nil without --show-jobs
}

// document returns the queue for --json, with its jobs in full if they were asked for.
func (i queueInfo) document() apidoc.Queue {
	doc := apidoc.QueueOf(i.queue)
	if i.jobs != nil {
		doc.Jobs.List = apidoc.Jobs(i.jobs)
	}
	return doc
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
		answer, err := q.Queues(ctx)
		if err != nil {
			return info, err
		}
		i := slices.IndexFunc(answer.Queues, func(queue *wire.Queue) bool { return queue.Name == q.args[0] })
		if i < 0 {
			return info, notFound{"queue", q.args[0]}
		}
		info.policy, info.queue = answer.Policy, answer.Queues[i]
		if showJobs {
			all, err := q.Jobs(ctx, false)
			if err != nil {
				return info, err
			}
			// jobs is not nil even if the queue has none: nil means that the user did not
			// ask for them.
			info.jobs = slices.DeleteFunc(append([]*wire.JobStatus{}, all...), func(j *wire.JobStatus) bool { return j.Queue != info.queue.Name })
		}
		return info, nil
	}, queueInfo.document, func(q *query, i queueInfo) {
		writeQueue(q.stdout, i.queue)
		writeAllotment(q.stdout, i.policy, i.queue)
		if i.jobs != nil {
			q.writeJobs(i.jobs)
		}
	})
	cmd.Flags().BoolVar(&showJobs, "show-jobs", false, "list the unfinished jobs of the queue too")
	return cmd
}

// writeQueue prints the lines of `mapred queue -list`. Shares are there only if the policy
// divides the cluster among queues.
func writeQueue(w io.Writer, q *wire.Queue) {
	fmt.Fprintln(w, "======================")
	fmt.Fprintf(w, "Queue Name : %s\n", q.Name)
	fmt.Fprintf(w, "Queue State : %s\n", strings.ToLower(q.State))
	info := fmt.Sprintf("%d jobs run, %d wait; %s slots in use, %s waited for", q.JobsRunning, q.JobsWaiting, slotCount(q.Running), slotCount(q.Waiting))
	if q.HasShares {
		info += fmt.Sprintf("; fair share %s map, %s reduce", decimalText(q.MapShare), decimalText(q.ReduceShare))
	}
	fmt.Fprintf(w, "Scheduling Info : %s\n", info)
}

// writeAllotment prints the configured shares of a queue, if the policy has queues; other
// policies treat all jobs as one list.
func writeAllotment(w io.Writer, policy string, q *wire.Queue) {
	if !q.HasShares {
		fmt.Fprintf(w, "Policy %s does not divide the cluster among queues\n", policy)
		return
	}
	fmt.Fprintf(w, "Order of its jobs : %s\n", q.Order)
	fmt.Fprintf(w, "Weight : %s\n", decimalText(q.Weight))
	fmt.Fprintf(w, "Minimum : %s slots\n", slotCount(q.Min))
	fmt.Fprintf(w, "Maximum : %s slots, %s running jobs\n", slotCount(q.Max), limitText(q.MaxJobs))
	fmt.Fprintf(w, "Waiting for the maximum : %d jobs\n", q.JobsNotRunnable)
}

// slotCount formats slots of each kind; a number below 0 means no limit.
func slotCount(s *wire.Queue_Slots) string {
	return limitText(s.GetMap()) + " map, " + limitText(s.GetReduce()) + " reduce"
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
