package bench

import (
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Shared is work that Hammr, Hadoop and Spark do on the same machines. Package bench/engines runs it.
type Shared struct {
	Name  string
	Suite string // its names in HiBench and in PUMA
	Input Input
	// Compare compares an output of another engine, a file or a directory, with Hammr's.
	Compare func(ours, other string) error
}

// sharedFiles is the number of files of an inverted index.
const sharedFiles = 16

// SharedWork returns the work that all engines do, with inputs of a seed.
func SharedWork(seed uint64) []Shared {
	text := Input{Name: "text", Seed: seed, Lines: textLines}
	files := Input{Name: "texts", Seed: seed, Files: textFiles(func(int64) int64 { return sharedFiles })}
	same := sameRecords(identity)
	return []Shared{
		{"wordcount", "HiBench micro/wordcount, PUMA word-count", text, same},
		{"terasort", "HiBench micro/terasort, PUMA terasort", Input{Name: "tera", Seed: seed, Lines: teraLines}, sameBytes},
		{"grep", "PUMA grep", text, same},
		{"index", "PUMA inverted-index", files, same},
		{"join", "HiBench sql/join without its sums", Input{Name: "join", Seed: seed, Files: joinFiles}, same},
		{"pagerank", "HiBench websearch/pagerank", Input{Name: "graph", Seed: seed, Lines: edgeLines}, rankTolerance.compare},
		{"kmeans", "HiBench ml/kmeans, PUMA k-means", Input{Name: "points", Seed: seed, Files: pointFiles}, centreTolerance.compare},
	}
}

//go:embed rivals/scripts/spark
var sparkScripts embed.FS

// WriteSparkScripts writes Spark's programs into a directory, which it makes.
func WriteSparkScripts(dir string) error {
	scripts, err := fs.Sub(sparkScripts, "rivals/scripts/spark")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, scripts)
}

// SparkPython returns the Python interpreter of a virtual environment with Spark, which is installed
// there first if wanted. The error says what is missing.
func SparkPython(ctx context.Context, venv string, wanted bool, log io.Writer) (string, error) {
	rivals, err := matching("rival", allRivals(), func(r rival) string { return r.Name }, []string{"spark"})
	if err == nil && wanted {
		err = install(ctx, venv, rivals, log)
	}
	if err != nil {
		return "", err
	}
	if why := rivals[0].missing(ctx, venv); why != "" {
		return "", errors.New(why)
	}
	return python(venv), nil
}
