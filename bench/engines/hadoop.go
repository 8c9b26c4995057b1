package engines

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/bench/streaming"
	"github.com/hammr/hammr/internal/kit/pattern"
)

// hadoop runs work on YARN: by Hadoop's own example programs, and where it has none by streaming,
// whose programs are commands of hammr.
type hadoop struct {
	*Machines
	program string // full name of hammr in HDFS
}

// newHadoop puts the program of the streaming jobs into HDFS.
func newHadoop(ctx context.Context, m *Machines) (engine, error) {
	h := hadoop{m, m.Files + "/hammr"}
	_, err := m.Hammr.Run(ctx, "fs", "-put", "-f", m.Hammr.File, h.program)
	return engine{"hadoop", h.run}, err
}

func (h hadoop) run(ctx context.Context, r *request) error {
	switch r.work {
	case "wordcount", "terasort":
		return h.example(ctx, r.work, "-D", "mapreduce.job.reduces="+h.reduces(), r.in, r.out)
	case "grep":
		return h.example(ctx, r.work, r.in, r.out, regex)
	case "index":
		return h.stream(ctx, &job{program: "index", in: r.in, out: r.out})
	case "join":
		return h.stream(ctx, &job{program: "join", in: r.in, out: r.out, env: []string{"LEFT=" + bench.CustomersFile}, settings: []string{
			"-D", "stream.num.map.output.key.fields=2", "-D", "mapreduce.partition.keypartitioner.options=-k1,1",
		}, options: []string{"-partitioner", "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"}})
	case "pagerank":
		return h.pagerank(ctx, r)
	case "kmeans":
		return h.kmeans(ctx, r)
	}
	return fmt.Errorf("no program for %s", r.work)
}

// example runs one of Hadoop's example programs.
func (h hadoop) example(ctx context.Context, args ...string) error {
	_, err := h.YARN.Run(ctx, "org.apache.hadoop.examples.ExampleDriver", args...)
	return err
}

// job is a job of streaming.
type job struct {
	program  string // of package streaming
	in, out  string
	env      []string // NAME=VALUE
	files    string   // further files for its tasks, with commas between
	settings []string // -D NAME=VALUE
	options  []string // of streaming
	reduces  string   // "" for as many as other jobs
	printed  []byte   // what the client has printed
}

// stream runs a job of streaming to its end.
func (h hadoop) stream(ctx context.Context, j *job) (err error) {
	files := h.program + "#hammr"
	if j.files != "" {
		files += "," + j.files
	}
	args := append(j.settings, "-D", "mapreduce.job.reduces="+cmp.Or(j.reduces, h.reduces()), "-files", files,
		"-mapper", "./hammr bench stream "+j.program+" map", "-reducer", "./hammr bench stream "+j.program+" reduce",
		"-input", j.in, "-output", j.out)
	for _, e := range j.env {
		args = append(args, "-cmdenv", e)
	}
	_, j.printed, err = h.YARN.Stream(ctx, append(args, j.options...)...)
	return err
}

// counter is a counter in what the client of a job prints.
var counter = pattern.New(`\b(` + streaming.Nodes + `|` + streaming.Stranded + `)=(\d+)`)

// counters returns the counters of a job; one that nothing was added to is not printed.
func (j *job) counters() map[string]string {
	found := map[string]string{streaming.Stranded: "0"}
	for _, c := range counter().FindAllSubmatch(j.printed, -1) {
		found[string(c[1])] = string(c[2])
	}
	return found
}

// pagerank runs a job that finds the links of each node, and one for each round.
func (h hadoop) pagerank(ctx context.Context, r *request) error {
	state := r.out + "-0"
	links := job{program: "links", in: r.in, out: state}
	if err := h.stream(ctx, &links); err != nil {
		return err
	}
	known := links.counters()
	for n := 1; n <= r.rounds; n++ {
		round := job{program: "pagerank", in: state, out: r.out + "-" + strconv.Itoa(n), env: []string{
			streaming.Nodes + "=" + known[streaming.Nodes], streaming.Stranded + "=" + known[streaming.Stranded],
		}}
		if n == r.rounds {
			round.out, round.env = r.out, append(round.env, streaming.Last+"=1")
		}
		if err := h.stream(ctx, &round); err != nil {
			return err
		}
		if _, err := h.Hammr.Run(ctx, "fs", "-rm", "-r", "-skipTrash", state); err != nil { // of the round before
			return err
		}
		state, known[streaming.Stranded] = round.out, round.counters()[streaming.Stranded]
	}
	return nil
}

// kmeans runs a job for each round. The one reduce of a round writes a file with all centres, which
// the tasks of the next round read.
func (h hadoop) kmeans(ctx context.Context, r *request) error {
	centres := r.file(bench.CentresFile)
	for n := 1; n <= r.rounds; n++ {
		round := job{program: "kmeans", in: r.file(bench.PointsFile), out: r.out + "-" + strconv.Itoa(n), files: centres + "#" + streaming.CentresFile, reduces: "1"}
		if n == r.rounds {
			round.out, round.env = r.out, []string{streaming.Last + "=1"}
		}
		if err := h.stream(ctx, &round); err != nil {
			return err
		}
		centres = round.out + "/part-00000"
	}
	return nil
}
