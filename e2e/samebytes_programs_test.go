package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
)

// bytesCase runs commands in sequence in a directory of their own. All files that exist at
// the end are its output. In the arguments, IN/ means the directory of the inputs and OUT/
// that directory.
type bytesCase struct {
	name     string
	commands [][]string
	twin     string // an earlier case whose directory "out" must be equal
	only     string // the directory to compare; "" for all
	gate     bool   // the gate runs it too, in the places of the gate
}

// program returns a case of one command, whose output is OUT/out.
func program(name string, args ...string) bytesCase {
	return bytesCase{name: name, commands: [][]string{append([]string{name}, args...)}}
}

// inGate returns the case as one that the gate runs.
func (bc bytesCase) inGate() bytesCase {
	bc.gate = true
	return bc
}

// levelCases returns the cases that this run compares.
func levelCases() []bytesCase {
	return slices.DeleteFunc(slices.Clone(bytesCases), func(bc bytesCase) bool { return testlevel.Choose(!bc.gate, false) })
}

func (bc bytesCase) like(twin string) bytesCase {
	bc.twin = twin
	return bc
}

// manyMaps and the others make a small job have many tasks. A gang of two reduces fits the
// smallest cluster.
const (
	manyMaps     = "-Dmapreduce.input.fileinputformat.split.maxsize=50k"
	twoReduces   = "-Dmapreduce.job.reduces=2"
	threeReduces = "-Dmapreduce.job.reduces=3"
)

// bytesCases are the bundled programs whose output depends only on their input and
// arguments.
var bytesCases = []bytesCase{
	program("wordcount", manyMaps, twoReduces, "IN/prose", "OUT/out").inGate(),
	program("wordcountpipe", manyMaps, twoReduces, "IN/prose", "OUT/out").like("wordcount"),
	program("streamcount", manyMaps, twoReduces, "IN/prose", "OUT/out").like("wordcount").inGate(),
	program("pagerank", manyMaps, threeReduces, "3", "IN/links", "OUT/out"),
	program("pagerankdag", manyMaps, threeReduces, "3", "IN/links", "OUT/out").like("pagerank").inGate(),
	program("join", manyMaps, threeReduces, "IN/small", "IN/links", "OUT/out"),
	program("broadcastjoin", manyMaps, threeReduces, "IN/small", "IN/links", "OUT/out").like("join"),
	program("kmeans", manyMaps, threeReduces, "3", "3", "IN/points", "OUT/out").inGate(),
	program("sort", manyMaps, "-r", "3", "IN/lines", "OUT/out"),
	program("grep", manyMaps, threeReduces, "IN/prose", "OUT/out", regex),
	program("distinct", manyMaps, threeReduces, "IN/lines", "OUT/out"),
	program("topn", manyMaps, threeReduces, "50", "IN/prose", "OUT/out"),
	program("invertedindex", manyMaps, threeReduces, "IN/prose", "IN/links", "IN/small", "OUT/out"),
	program("histogram", manyMaps, threeReduces, "0.5", "IN/points", "OUT/out"),
	program("mean", manyMaps, threeReduces, "IN/amounts", "OUT/out"),
	program("secondarysort", manyMaps, threeReduces, "IN/pairs", "OUT/out"),
	program("randomwriter", "-Dmapreduce.randomwriter.totalbytes=300000", "-Dmapreduce.randomwriter.bytespermap=100000",
		"-Dmapreduce.randomwriter.seed=7", "OUT/out"),
	program("randomtextwriter", "-Dmapreduce.randomtextwriter.totalbytes=300000", "-Dmapreduce.randomtextwriter.bytespermap=100000",
		"OUT/out"),
	{name: "terasort", gate: true, commands: [][]string{
		{"teragen", "-Dmapreduce.job.maps=3", "4000", "OUT/rows"},
		{"terasort", manyMaps, threeReduces, "OUT/rows", "OUT/out"},
		{"teravalidate", "OUT/out", "OUT/report"},
		{"teravalidate", "OUT/rows", "OUT/faults"},
	}},
	{name: "loadgen", commands: [][]string{
		{"teragen", "-Dmapreduce.job.maps=3", "4000", "OUT/rows"},
		{"loadgen", manyMaps, "-r", "3", "-keepmap", "70", "-keepred", "130", "-indir", "OUT/rows", "-outdir", "OUT/out"},
	}},
	// The jobs print their duration; their files are the same in each run.
	{name: "TestDFSIO", only: "io_data", gate: true, commands: [][]string{
		{"TestDFSIO", "-Dtest.build.data=OUT", "-write", "-nrFiles", "3", "-size", "100KB"},
	}},
}

// bytesLeftOut are the bundled programs without reproducible output.
var bytesLeftOut = map[string]string{
	"mrbench": "removes what its jobs write",
	"sleep":   "writes nothing",
}

// bytesInputs returns files of several pieces whose boundaries are within records.
func bytesInputs(t *testing.T) map[string][]byte {
	t.Helper()
	names := func(r *rand.Rand) string { return fmt.Sprintf("p%d", r.IntN(500)) }
	lines := func(name string, n int, line func(r *rand.Rand) string) []byte {
		return readFile(t, randomLines(t, name, n, line))
	}
	return map[string][]byte{
		"prose": readFile(t, proseFile(t, "prose", 400<<10)),
		"lines": readFile(t, binaryLines(t, "lines", 400<<10)),
		"links": lines("links", 20_000, func(r *rand.Rand) string { return names(r) + "\t" + names(r) }),
		"small": lines("small", 300, func(r *rand.Rand) string { return fmt.Sprintf("p%d\tsmall%d", r.IntN(600), r.Uint32()) }),
		"points": lines("points", 10_000, func(r *rand.Rand) string {
			return fmt.Sprintf("%.3f %.3f", r.NormFloat64()+float64(r.IntN(3)*9), r.NormFloat64())
		}),
		"amounts": lines("amounts", 15_000, func(r *rand.Rand) string { return fmt.Sprintf("%s\t%.2f", names(r), 100*r.NormFloat64()) }),
		"pairs":   lines("pairs", 15_000, func(r *rand.Rand) string { return fmt.Sprintf("%d %d", r.IntN(1000)-500, int32(r.Uint32())) }),
	}
}
