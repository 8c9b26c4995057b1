// Package benchmarks lists the bundled programs that measure a cluster, make data for
// measurements, or occupy slots. They take the arguments of Hadoop's programs of these names.
package benchmarks

import (
	"github.com/hammr/hammr/examples/benchmarks/loadgen"
	"github.com/hammr/hammr/examples/benchmarks/mrbench"
	"github.com/hammr/hammr/examples/benchmarks/randomtextwriter"
	"github.com/hammr/hammr/examples/benchmarks/randomwriter"
	"github.com/hammr/hammr/examples/benchmarks/sleep"
	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/examples/benchmarks/terasort"
	"github.com/hammr/hammr/examples/benchmarks/teravalidate"
	"github.com/hammr/hammr/examples/benchmarks/testdfsio"
	"github.com/hammr/hammr/mr"
)

// Programs returns the programs, for package examples.
func Programs() []*mr.Program {
	return []*mr.Program{
		loadgen.Program(),
		mrbench.Program(),
		randomtextwriter.Program(),
		randomwriter.Program(),
		sleep.Program(),
		teragen.Program(),
		terasort.Program(),
		teravalidate.Program(),
		testdfsio.Program(),
	}
}
