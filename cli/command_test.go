package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/testing/must"
)

// call runs a command line in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = execute(args, &out, &err)
	return code, out.String(), err.String()
}

func TestCommandLines(t *testing.T) {
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", "")
	for _, c := range []struct {
		line   string
		code   int
		stdout string // text that stdout contains
		stderr string
	}{
		{"", exitDone, "Available Commands:", ""},
		{"--help", exitDone, "hammr run wordcount", ""},
		{"rnu", exitUsage, "", "Did you mean this?\n\trun\n"},
		{"wordcount in out", exitUsage, "", "Did you mean this?\n\trun\n"},
		{"--nonsense", exitUsage, "", "unknown flag: --nonsense\nSee 'hammr --help'."},

		{"run", exitUsage, "", "An example program must be given as the first argument.\nValid program names are:\n"},
		{"run -h", exitDone, "  wordcount: ", ""},
		{"run nosuch in out", exitUsage, "", "Unknown program 'nosuch' chosen.\nValid program names are:\n"},
		{"run -D a=b", exitUsage, "", "Unknown program '-D' chosen."},

		{"fs", 255, "", "Usage: hammr fs [generic options]"},
		{"fs --help", exitDone, "hammr fs -ls -R", ""},
		{"fs ls", 255, "", "Did you mean -ls?"},
		{"fs -D", exitUsage, "", "fs: option -D: a value is missing"},
		{"fs -D dfs.blocksize=x -ls /", exitUsage, "", "dfs.blocksize=x: expected a size"},
		{"fs -Ddfs.replication=0 -ls /", exitUsage, "", "dfs.replication=0: expected 1 to 512"},
		{"fs -D dfs.block.size=1m -test -e /", exitDone, "", "dfs.block.size is deprecated. Instead, use dfs.blocksize"},
		{"fs -conf /no/such.xml -ls /", exitUsage, "", "/no/such.xml"},
		{"fs -fs file:/// -test -d /", exitDone, "", ""},
		{"fs -ls /no/such", exitFailed, "", "ls: `/no/such': No such file or directory"},
		{"fs -fs nosuch://x -ls /", exitFailed, "", "nosuch"},

		{"conf", exitDone, "mapreduce.job.reduces=1\n    reduce tasks", ""},
		{"conf io.sort.mb", exitDone, "mapreduce.task.io.sort.mb\n", ""},
		{"conf mapreduce.job.reduces", exitDone, "default  1\n", ""},
		{"conf SPECULATIVE", exitDone, "mapreduce.map.speculative=false\n", ""},
		{"conf no.such", exitFailed, "", "property no.such: not one that is read here"},
		{"conf a b", exitUsage, "", "at most 1 arg"},

		{"dev", exitDone, "hdfs", ""},
		{"dev hdsf", exitUsage, "", "Did you mean this?\n\thdfs\n"},
		{"dev hdfs up", exitUsage, "", `"dir" not set`},
		{"dev hdfs up --dir x --datanodes x", exitUsage, "", "--datanodes"},
		{"dev hdfs down --dir /no/such", exitDone, "", "No HDFS runs in /no/such."},

		{"new", exitUsage, "", "a directory is missing"},
		{"new a b", exitUsage, "", "more than a directory: a b"},
		{"new . --source /no/such", exitFailed, "", "/no/such has no go.mod"},

		{"ui --masters=", exitUsage, "", "no cluster is named"},
		{"ui --masters a:b:c", exitFailed, "", "not an address"},
		{"version", exitDone, "hammr ", ""},
		{"--version", exitDone, ownVersion(), ""},
		{"completion bash", exitDone, "__start_hammr", ""},
		{"completion zsh", exitDone, "#compdef hammr", ""},
		{"completion fish", exitDone, "complete -c hammr", ""},
		{"__complete run word", exitDone, "wordcount\t", ""},
		{"__complete conf mapreduce.job.red", exitDone, "mapreduce.job.reduces", ""},
	} {
		code, stdout, stderr := call(strings.Fields(c.line)...)
		if code != c.code {
			t.Errorf("hammr %s: exit code %d, want %d; %s", c.line, code, c.code, stderr)
		}
		if !strings.Contains(stdout, c.stdout) {
			t.Errorf("hammr %s: %q is not in its output:\n%s", c.line, c.stdout, stdout)
		}
		if !strings.Contains(stderr, c.stderr) {
			t.Errorf("hammr %s: %q is not in what it says:\n%s", c.line, c.stderr, stderr)
		}
		if c.code == exitDone && c.stderr == "" && !strings.HasPrefix(c.line, "__") && stderr != "" {
			t.Errorf("hammr %s: says without need: %s", c.line, stderr)
		}
	}
}

// TestHelp checks that each command has a short help, an example, and no long lines.
// TestTopCommands checks the names by which commands are chosen, and that a mistyped one is looked for among all.
func TestTopCommands(t *testing.T) {
	all := topCommands()
	for _, c := range all {
		if name := c.make().Name(); name != c.name {
			t.Errorf("command %q is listed as %q", name, c.name)
		}
		if root := newRootFor([]string{c.name, "x"}); len(root.Commands()) != 1 {
			t.Errorf("%d commands for %q", len(root.Commands()), c.name)
		}
	}
	for _, args := range [][]string{nil, {"rnu"}, {"--help"}, {"help", "run"}, {"completion", "bash"}, {"__complete", "run"}} {
		if n := len(newRootFor(args).Commands()); n != len(all) {
			t.Errorf("%d commands for %q, want %d", n, args, len(all))
		}
	}
}

func TestHelp(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short help %q, want a phrase without a full stop", cmd.CommandPath(), cmd.Short)
		}
		if cmd.Example == "" && !cmd.Hidden {
			t.Errorf("%s: no example", cmd.CommandPath())
		}
		for _, line := range strings.Split(cmd.Long+"\n"+cmd.Example, "\n") {
			if len(line) > 80 {
				t.Errorf("%s: line of %d characters in its help: %s", cmd.CommandPath(), len(line), line)
			}
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(newRoot())
}

func TestConfShowsWhatSiteFilesSet(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HADOOP_CONF_DIR", dir)
	site := `<configuration><property><name>fs.defaultFS</name><value>hdfs://nn:8020</value></property></configuration>`
	must.Do(t, os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(site), 0o644))
	code, stdout, stderr := call("conf", "fs.defaultFS")
	if code != exitDone || !strings.Contains(stdout, "is set   hdfs://nn:8020\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestProgramName(t *testing.T) {
	for _, c := range []struct{ args, name, rest string }{
		{"wordcount -D a=b in out", "wordcount", "-D a=b in out"},
		{"--quiet --report r --workers 2 wordcount in out", "wordcount", "--quiet --report r --workers 2 in out"},
		{"--report=r sort -r 2", "sort", "--report=r -r 2"},
		{"--quiet", "", "--quiet"},
		{"--report", "", "--report"},
	} {
		name, rest := programName(strings.Fields(c.args))
		if got := strings.Join(rest, " "); name != c.name || got != c.rest {
			t.Errorf("programName(%s) = %q, %q; want %q, %q", c.args, name, got, c.name, c.rest)
		}
	}
}

func TestVersionLine(t *testing.T) {
	built := debug.BuildInfo{Main: debug.Module{Path: hammrModule, Version: "v1.2.3"}}
	if got := versionLine("", built); !strings.HasPrefix(got, "hammr v1.2.3 (go") {
		t.Errorf("version of a module: %s", got)
	}
	built.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	if got := versionLine("2.0", built); !strings.HasPrefix(got, "hammr 2.0 (") || !strings.HasSuffix(got, "commit 0123456789ab)") {
		t.Errorf("version of a release: %s", got)
	}
	if got := versionLine("", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}); !strings.HasPrefix(got, "hammr dev (") {
		t.Errorf("version of a work tree: %s", got)
	}
	for replace, want := range map[*debug.Module]string{nil: "hammr v1.2.3 in example.com/mine v0.1.0 (go", {}: "hammr dev in example.com/mine v0.1.0 (go"} {
		hammr := debug.Module{Path: hammrModule, Version: "v1.2.3", Replace: replace}
		built := debug.BuildInfo{Main: debug.Module{Path: "example.com/mine", Version: "v0.1.0"}, Deps: []*debug.Module{{Path: "other"}, &hammr}}
		if got := versionLine("", built); !strings.HasPrefix(got, want) {
			t.Errorf("version of the program of another module: %s, want %s", got, want)
		}
	}
}

// documented returns the row of docs/cluster.md of a setting, without its end: its default, and its usage
// without the default and the marks of the value.
func documented(s daemon.Setting) string {
	meaning, value := s.Usage, s.Default
	if text, after, found := strings.Cut(meaning, " (default "); found {
		meaning, value = text, strings.TrimSuffix(after, ")")
	}
	for _, unit := range []string{"0s", "0m"} { // of times, as Go prints them
		if rest, whole := strings.CutSuffix(value, unit); whole && strings.ContainsAny(rest, "hm") {
			value = rest
		}
	}
	switch {
	case s.IsRequired() && s.Name != "name": // each machine has a name
		value = "required"
	case s.IsBool:
		value = "off"
	case value == "":
		value = "none"
	}
	return fmt.Sprintf("| `--%s` | %s | %s", s.Name, value, strings.ReplaceAll(meaning, "`", ""))
}

// TestSettingsAreDocumented checks that docs/cluster.md has each setting of a daemon, with its default and
// its usage.
func TestSettingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/cluster.md")
	must.Do(t, err)
	for _, s := range append(new(masterd.Config).Settings(), new(tasknoded.Config).Settings()...) {
		if row := documented(s); !strings.Contains(string(page), "\n"+row+" |\n") && !strings.Contains(string(page), "\n"+row+"; see [") {
			t.Errorf("docs/cluster.md has no row\n%s", row)
		}
	}
}

// TestReloadableSettingsAreDocumented checks that docs/cluster.md lists exactly the settings that
// SIGHUP changes, in its table of them.
func TestReloadableSettingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/cluster.md")
	must.Do(t, err)
	_, table, _ := strings.Cut(string(page), "settings that SIGHUP changes |")
	table, _, found := strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("docs/cluster.md has no table of the settings that SIGHUP changes")
	}
	for _, s := range append(new(masterd.Config).Settings(), new(tasknoded.Config).Settings()...) {
		if listed := strings.Contains(table, "`--"+s.Name+"`"); listed != s.IsReloadable() {
			t.Errorf("--%s is reloadable: %v; docs/cluster.md lists it: %v", s.Name, s.IsReloadable(), listed)
		}
	}
}
