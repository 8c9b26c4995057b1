package engines

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// Machines are a cluster with Hammr, an HDFS and YARN, as clients see it.
type Machines struct {
	Hammr     testcluster.Program // on its cluster, with the HDFS of Conf
	Files     string              // full name of a directory in HDFS
	Tasknodes int                 // machines for tasks
	Slots     int                 // maps that each runs at a time

	YARN   *minihdfs.Client // nil for none
	NoYARN error            // why there is none
	Memory int              // MiB of containers on each machine
}

// engine runs work.
type engine struct {
	name string
	run  func(ctx context.Context, r *request) error
}

// request is one run: work on an input, and the directory of its output in HDFS.
type request struct {
	work    string
	in, out string
	rounds  int // of iterative work
}

// regex is what grep searches for.
const regex = "q[a-z]*"

// reduces is the number of reduces of each job: two for three map slots, so that one wave does.
func (m *Machines) reduces() string { return strconv.Itoa(max(m.Tasknodes*m.Slots*2/3, 1)) }

// file returns the full name of a file of an input with several files.
func (r *request) file(name string) string { return r.in + "/" + name }

// runHammr runs Hammr's own programs.
func (m *Machines) runHammr(ctx context.Context, r *request) error {
	program, ok := map[string][]string{
		"wordcount": {"wordcount", r.in, r.out},
		"terasort":  {"terasort", r.in, r.out},
		"grep":      {"grep", r.in, r.out, regex},
		"index":     {"invertedindex", r.in, r.out},
		"join":      {"join", r.file(bench.CustomersFile), r.file(bench.OrdersFile), r.out},
		"pagerank":  {"pagerankdag", strconv.Itoa(r.rounds), r.in, r.out},
		"kmeans":    {"kmeans", strconv.Itoa(bench.Centres), strconv.Itoa(r.rounds), r.file(bench.PointsFile), r.out},
	}[r.work]
	if !ok {
		return fmt.Errorf("no program for %s", r.work)
	}
	args := append([]string{"run", program[0], "-D", "mapreduce.job.reduces=" + m.reduces(), "--quiet"}, program[1:]...)
	_, err := m.Hammr.Run(ctx, args...)
	return err
}
