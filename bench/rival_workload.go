package bench

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// workload is one job, as we and each rival do it.
type workload struct {
	Name  string
	About string // one line
	Input Input
	// Ours is our command line for an input and an output.
	Ours func(k *Kit, in, out string) Command
	// Script is the name of the rivals' scripts, without suffix. Spark has some of its own.
	Script, SparkScript string
	// Pipe is a shell pipe of coreutils from standard input to standard output, or "". Its
	// options do not include sort's directory, which the environment names.
	Pipe string
	// Compare compares our output with a rival's. ComparePipe does so with that of the pipe.
	Compare, ComparePipe func(ours, rival string) error
	// Cannot has a reason for each rival that cannot do this workload.
	Cannot map[string]string
}

const pagerankRounds = 10

// kmeans returns the command line of the bundled program for the points of a directory.
func kmeans(k *Kit, in, out string) Command {
	return bundled("kmeans", fmt.Sprint(Centres), fmt.Sprint(kmeansRounds))(k, filepath.Join(in, PointsFile), out)
}

// Tolerances. Our ranks are whole billionths, and our centres whole millionths, rounded down in
// each round; the rivals' are floats. A point between two centres may so get another centre,
// which moves the mean of many points by less than the tolerance.
var (
	rankTolerance   = tolerance{1e-6, 1e-6}
	centreTolerance = tolerance{0.01, 1e-4}
)

// uniqCount is a pipe that counts equal lines.
const uniqCount = `sort --parallel=2 | uniq -c`

// workloads returns all workloads with inputs of a seed. Their names must not change, since
// results of different days are matched by name.
func workloads(seed uint64) []workload {
	log := Input{Name: "log", Seed: seed, Lines: logLines}
	graph := Input{Name: "graph", Seed: seed, Lines: edgeLines}
	customers := Input{Name: "join", Seed: seed, Files: joinFiles}
	all := []workload{
		{
			Name: "keys", About: "count of random keys, half of them different", Input: Input{Name: "keys", Seed: seed, Lines: keyLines},
			Ours: bundled("wordcount"), Pipe: uniqCount,
		},
		{
			Name: "pairs", About: "different pairs of user and page of a log", Input: log,
			Ours: job("pairs"), Pipe: `cut -f 2,3 | sort --parallel=2 -u`, ComparePipe: sameRecords(identity),
		},
		{
			Name: "broadcastjoin", About: "join with a small input in memory, sums by region", Input: customers,
			Ours: job("joinbroadcast", CustomersFile, OrdersFile), Script: "join", SparkScript: "broadcastjoin",
		},
		{
			Name: "join", About: "the same join, both inputs shuffled", Input: customers,
			Ours: job("joinshuffle", CustomersFile, OrdersFile),
		},
		{
			Name: "index", About: "inverted index of text without combiner", Ours: job("index"),
			Input: Input{Name: "index", Seed: seed, Files: textFiles(func(int64) int64 { return indexFiles })},
		},
		{
			Name: "pagerank", About: "PageRank of ten rounds in one job", Input: graph,
			Ours: bundled("pagerankdag", fmt.Sprint(pagerankRounds)), Compare: rankTolerance.compare,
		},
		{
			Name: "pagerankchain", About: "the same, a job for each round", Input: graph,
			Ours: bundled("pagerank", fmt.Sprint(pagerankRounds)), Script: "pagerank", Compare: rankTolerance.compare,
		},
		{
			Name: "kmeans", About: "sixteen centres of points in ten rounds", Input: Input{Name: "points", Seed: seed, Files: pointFiles},
			Ours: kmeans, Compare: centreTolerance.compare,
		},
		{
			Name: "top100", About: "the pages of a log with the most views", Input: log,
			Ours: job("toppages"), Compare: sameLines(identity), ComparePipe: sameLines(countFirst),
			Pipe: `cut -f 3 | ` + uniqCount + ` | sort -k 1,1nr -k 2 | head -n 100`,
		},
		{Name: "sessions", About: "sessions of the users of a log, by secondary sort", Input: log, Ours: job("sessions")},
		{
			Name: "smallfiles", About: "wordcount of files of 512 KiB", Ours: bundled("wordcount"), Script: "wordcount",
			Input: Input{Name: "smallfiles", Seed: seed, Files: textFiles(func(bytes int64) int64 { return max(bytes/smallFile, 1) })},
		},
	}
	return completed(append(all, compressedWorkloads(seed)...))
}

// compressedWorkloads count the words of one compressed file.
func compressedWorkloads(seed uint64) []workload {
	const noBzip2 = "it reads no bzip2"
	ours := bundled("wordcount")
	return []workload{
		{
			Name: "gzip", About: "wordcount of a gzip file", Ours: ours, Script: "wordcount",
			Input: Input{Name: "gzip", Seed: seed, Files: compressedText(".gz", gzipTo)},
		},
		{
			Name: "zstd", About: "wordcount of a zstd file", Ours: ours, Script: "wordcount",
			Input: Input{Name: "zstd", Seed: seed, Files: compressedText(".zst", zstdTo)},
		},
		{
			Name: "bzip2", About: "wordcount of a bzip2 file", Ours: ours, Script: "wordcount",
			Input:  Input{Name: "bzip2", Seed: seed, Files: bzip2Text},
			Cannot: map[string]string{"duckdb": noBzip2, "polars": noBzip2},
		},
	}
}

// completed sets the defaults of workloads: scripts have the workload's name, and records are
// compared in any order.
func completed(all []workload) []workload {
	for i := range all {
		w := &all[i]
		if w.Script == "" {
			w.Script = w.Name
		}
		if w.SparkScript == "" {
			w.SparkScript = w.Script
		}
		if w.Compare == nil {
			w.Compare = sameRecords(identity)
		}
		if w.ComparePipe == nil {
			w.ComparePipe = sameRecords(countFirst)
		}
	}
	return all
}

// tolerance is how far numbers of two results may be apart: absolute plus relative to the
// greater of both.
type tolerance struct{ absolute, relative float64 }

func (t tolerance) allows(a, b float64) bool {
	return math.Abs(a-b) <= t.absolute+t.relative*max(math.Abs(a), math.Abs(b))
}

// compare compares two outputs with a key in front of each line and numbers behind it. Lines
// may have any order. All are in memory.
func (t tolerance) compare(ours, rival string) error {
	a, errA := linesOf(ours, identity)
	b, errB := linesOf(rival, identity)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if len(a) != len(b) {
		return fmt.Errorf("results differ: %d records, rival %d", len(a), len(b))
	}
	slices.Sort(a)
	slices.Sort(b)
	for i := range a {
		if !t.sameNumbers(strings.Fields(a[i]), strings.Fields(b[i])) {
			return fmt.Errorf("results differ by more than %g and %g of the number: %q, rival %q", t.absolute, t.relative, a[i], b[i])
		}
	}
	return nil
}

// sameNumbers compares the fields of two lines. The first is the key.
func (t tolerance) sameNumbers(a, b []string) bool {
	if len(a) != len(b) || len(a) == 0 || a[0] != b[0] {
		return false
	}
	for i := 1; i < len(a); i++ {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if errX != nil || errY != nil || !t.allows(x, y) {
			return false
		}
	}
	return true
}
