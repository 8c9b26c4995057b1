package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Kit has the programs and directories of one run.
//
//	DIR/text-1073741824      generated inputs, kept
//	DIR/work-1234/bin        programs of this run
//	DIR/work-1234/ours …     outputs, removed after each run
type Kit struct {
	cfg  Config
	bin  string // programs, built for this run
	work string // outputs and spills, removed at the end
	hdfs string // URI of the HDFS that a contest has started

	daemons *daemons // of the cluster that a contest has started, nil for none
	notes   []string // further findings of the contest, which no sample has
}

// Source is the source of some programs of a Suite.
type Source struct {
	Dir      string // root of a Go module
	Packages []string
}

// newKit builds the programs. The caller closes the kit. Programs are built from the present
// tree, so results include uncommitted changes.
func newKit(ctx context.Context, cfg Config, sources []Source) (*Kit, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("directory for generated input: %w", err)
	}
	work, err := os.MkdirTemp(cfg.Dir, "work-")
	if err != nil {
		return nil, fmt.Errorf("directory for output: %w", err)
	}
	k := &Kit{cfg: cfg, work: work, bin: filepath.Join(work, "bin")}
	if err := k.build(ctx, sources); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *Kit) close() error { return os.RemoveAll(k.work) }

// build compiles programs without cgo and without a workspace file, so that all machines
// build the same programs.
func (k *Kit) build(ctx context.Context, sources []Source) error {
	for _, s := range sources {
		err := run(ctx, Command{
			Args: append([]string{"go", "build", "-C", s.Dir, "-o", k.bin + string(filepath.Separator)}, s.Packages...),
			Env:  []string{"CGO_ENABLED=0", "GOWORK=off"},
		})
		if err != nil {
			return fmt.Errorf("programs of %s: %w", s.Dir, err)
		}
	}
	return nil
}

// Program returns the path of a program that build has built.
func (k *Kit) Program(name string) string { return filepath.Join(k.bin, name) }

// Work returns the directory of outputs and temporary files. It is on the same file system as
// the inputs, and is removed at the end of the run.
func (k *Kit) Work() string { return k.work }

// Ours returns the command that runs one of our programs with two reduces. It spills into
// the kit's directory, as the rivals do.
func (k *Kit) Ours(program []string, args ...string) Command {
	local := filepath.Join(k.work, "local")
	generic := []string{"-D", "mapreduce.cluster.local.dir=" + local, "-D", "mapreduce.job.reduces=2", "--quiet"}
	program[0] = k.Program(program[0])
	return Command{Args: append(append(program, generic...), args...)}
}
