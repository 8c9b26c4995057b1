package drill

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// The size of a drill's jobs: with 8 map slots one takes some seconds, most of which its
// tasks sleep.
const (
	// Each map reads 150 lines and sleeps for 4 ms at each: 0.6 s, in two waves on 8 slots.
	lines      = 2400 // of text
	words      = 8    // a line
	vocabulary = 900
	rows       = 2400 // of terasort
	maps       = 16
)

// drillProperties make the tasks of drills sleep, and time out early. Attempts of a faulty
// machine fail in a row, so jobs get more attempts than by default. Short time-outs keep a
// drill short when a task or a fetch hangs.
var drillProperties = []string{
	"hammr.debug.record.sleep=4ms", "mapreduce.task.timeout=5000", "hammr.shuffle.fetch.timeout=3s",
	"mapreduce.map.maxattempts=8", "mapreduce.reduce.maxattempts=8",
}

// outputProperties are the properties that the output depends on. The number of reduces
// decides which file a record is in.
var outputProperties = []string{"mapreduce.job.reduces=3"}

// properties makes command-line options of properties.
func properties(lists ...[]string) (args []string) {
	for _, list := range lists {
		for _, p := range list {
			args = append(args, "-D", p)
		}
	}
	return args
}

// dataPlace is the place of a plan's input and output. It is on this machine, in the
// session's HDFS, or in the file system of a cluster of a hostfile.
type dataPlace struct {
	dir string // a path of this machine, or a full name
}

// remote reports whether files there have full names.
func (p dataPlace) remote() bool { return strings.Contains(p.dir, "://") }

func (s *Session) dataPlace(hdfs *minihdfs.Cluster) dataPlace {
	switch {
	case hdfs != nil:
		return dataPlace{dir: hdfs.URI() + "/drill"}
	case s.cfg.Data != "":
		return dataPlace{dir: strings.TrimSuffix(s.cfg.Data, "/") + "/" + filepath.Base(s.dir)}
	}
	return dataPlace{dir: filepath.Join(s.dir, "data")}
}

// jobCommand returns the program of a job and its arguments, of which the first is its name for
// `hammr run`.
func (s *Session) jobCommand(job chaos.Job, options []string, in, out string) (p testcluster.Program, args []string) {
	options = append(options, properties(outputProperties, []string{splitSize(job.Program)})...)
	if !job.Own() {
		return testcluster.Program{File: s.cfg.Hammr}, append(append([]string{"run", job.Program}, options...), in, out)
	}
	for _, arg := range job.Args {
		options = append(options, strings.NewReplacer(chaos.InArg, in, chaos.OutArg, out).Replace(arg))
	}
	return testcluster.Program{File: job.Program}, options
}

// canRun reports why an own program cannot run; nil if it can.
func canRun(job chaos.Job) error {
	if !job.Own() {
		return nil
	}
	if _, err := exec.LookPath(job.Program); err != nil {
		return fmt.Errorf("job %s: its program: %w", job.Name, err)
	}
	return nil
}

// input returns the name of a program's input, which it makes on first use. Inputs are
// generated on this machine and copied to a remote place once a session.
func (s *Session) input(ctx context.Context, at dataPlace, program string) (string, error) {
	kind := "text"
	if program == "terasort" {
		kind = "rows"
	}
	local := filepath.Join(s.dir, "data", kind)
	if _, err := os.Stat(local); err != nil {
		if err := s.generate(ctx, kind, local); err != nil {
			return "", err
		}
	}
	if !at.remote() {
		return local, nil
	}
	name := at.dir + "/" + kind
	if _, err := s.command(ctx, nil, "fs", "-test", "-e", name); err == nil {
		return name, nil
	}
	if _, err := s.command(ctx, nil, "fs", "-mkdir", "-p", at.dir); err != nil {
		return "", err
	}
	_, err := s.command(ctx, nil, "fs", "-put", local, name)
	return name, err
}

// generate writes an input: rows for terasort, or text.
func (s *Session) generate(ctx context.Context, kind, path string) error {
	if kind == "rows" {
		_, err := s.command(ctx, nil, "run", "teragen", "--quiet", fmt.Sprint(rows), path)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text(), 0o644)
}

// text returns the same text each time. Some of its words are frequent, most are rare. The
// smaller of two numbers favours small ones, like the frequent words of a language.
func text() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for range lines {
		for i := range words {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "w%d", min(r.IntN(vocabulary), r.IntN(vocabulary)))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// expected returns what a program writes undisturbed in one process.
//
// It is the reference of all comparisons: the embedded engine, without faults, with the
// same number of reduces. Results are kept for the session, since input and program stay
// the same. An own program runs twice, since only equal outputs can be compared.
func (s *Session) expected(ctx context.Context, at dataPlace, job chaos.Job) (testcluster.Output, error) {
	key := strings.Join(append([]string{at.dir, job.Program}, job.Args...), " ")
	if s.expectedOutputs[key] != nil {
		return s.expectedOutputs[key], nil
	}
	in, err := s.input(ctx, at, job.Program)
	if err != nil {
		return nil, err
	}
	var want testcluster.Output
	for i := range 2 {
		out := filepath.Join(s.dir, "want", fmt.Sprintf("%d-%d", len(s.expectedOutputs), i))
		program, args := s.jobCommand(job, []string{"--quiet"}, in, "file://"+out)
		if _, err := program.Run(ctx, args...); err != nil {
			return nil, fmt.Errorf("undisturbed run of job %s: %w", job.Name, err)
		}
		got, err := testcluster.ReadOutput(out)
		if err != nil {
			return nil, fmt.Errorf("undisturbed run of job %s: %w", job.Name, err)
		}
		if _, different := got.Compare(want); i > 0 && len(different) > 0 {
			return nil, fmt.Errorf("job %s: two undisturbed runs of %s differ: %s; only a program whose output is the same each time can be compared", job.Name, job.Program, strings.Join(different, ", "))
		}
		if want = got; !job.Own() {
			break
		}
	}
	s.expectedOutputs[key] = want
	return want, nil
}

// splitSize returns the property that gives a program's job its number of maps. The last split
// may be smaller.
func splitSize(program string) string {
	size := rows * 100 / maps
	if program != "terasort" {
		size = len(text())/maps + 1
	}
	return fmt.Sprintf("mapreduce.input.fileinputformat.split.maxsize=%d", size)
}

// submit submits a job of the plan and returns its id. It detaches: the drill watches the
// job itself, so a client that is lost with its master does not matter.
func (s *Session) submit(ctx context.Context, environ []string, at dataPlace, job chaos.Job, out string) (string, error) {
	in, err := s.input(ctx, at, job.Program)
	if err != nil {
		return "", err
	}
	program, args := s.jobCommand(job, append([]string{"--quiet", "--detach"}, properties(drillProperties)...), in, out)
	program.Environ = environ
	return program.Run(ctx, args...)
}

// fetchOutput reads output from this machine or from another file system. The local copy is
// removed after it is read.
func (s *Session) fetchOutput(ctx context.Context, at dataPlace, out string) (testcluster.Output, error) {
	if !at.remote() {
		return testcluster.ReadOutput(out)
	}
	local, err := os.MkdirTemp(s.dir, "got-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(local)
	got := filepath.Join(local, "out")
	if _, err := s.command(ctx, nil, "fs", "-get", out, got); err != nil {
		return nil, err
	}
	return testcluster.ReadOutput(got)
}
