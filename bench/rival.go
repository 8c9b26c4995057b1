package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// rival is a program that we are compared with.
type rival struct {
	Name string
	// Package is the Python package, or "" for the coreutils.
	Package string
	// Needs are programs that must be on the machine.
	Needs []string
}

// allRivals returns all rivals.
func allRivals() []rival {
	return []rival{
		{Name: "duckdb", Package: "duckdb"},
		{Name: "polars", Package: "polars"},
		{Name: "spark", Package: "pyspark", Needs: []string{"java"}},
		{Name: "coreutils", Needs: []string{"sh", "cut", "sort", "uniq", "head"}},
	}
}

// requirements has the versions of the Python packages. It is the one place that pins them.
//
//go:embed rivals/scripts/requirements.txt
var requirements string

// scriptsDir has the scripts, below the root of Hammr's source, where the programs are built.
var scriptsDir = filepath.Join("bench", "rivals", "scripts")

// version returns the pinned version of the rival's package.
func (r rival) version() string {
	for line := range strings.Lines(requirements) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), "=="); ok && name == r.Package {
			return version
		}
	}
	return ""
}

// python is the interpreter of the virtual environment.
func python(venv string) string { return filepath.Join(venv, "bin", "python") }

// missing returns why the rival cannot run, or "". It does not start the rival's program.
func (r rival) missing(ctx context.Context, venv string) string {
	for _, program := range r.Needs {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed"
		}
	}
	if r.Package == "" {
		return ""
	}
	const show = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
	found, err := exec.CommandContext(ctx, python(venv), "-c", show, r.Package).Output()
	switch version := strings.TrimSpace(string(found)); {
	case err != nil:
		return fmt.Sprintf("%s %s is not installed; --install installs it", r.Package, r.version())
	case version != r.version():
		return fmt.Sprintf("version %s of %s is installed instead of %s; --install replaces it", version, r.Package, r.version())
	}
	return ""
}

// install makes a virtual environment and installs the packages of the rivals into it. A
// package that cannot be installed does not stop the others.
func install(ctx context.Context, venv string, rivals []rival, log io.Writer) error {
	if _, err := os.Stat(python(venv)); err != nil {
		fmt.Fprintf(log, "making the virtual environment %s\n", venv)
		if err := run(ctx, Command{Args: []string{"python3", "-m", "venv", venv}}); err != nil {
			return fmt.Errorf("virtual environment for the rivals: %w; it needs Python with venv", err)
		}
	}
	var errs []error
	for _, r := range rivals {
		if r.Package == "" || r.missing(ctx, venv) == "" {
			continue
		}
		name := r.Package + "==" + r.version()
		fmt.Fprintf(log, "installing %s\n", name)
		if err := run(ctx, Command{Args: []string{python(venv), "-m", "pip", "install", "--quiet", name}}); err != nil {
			errs = append(errs, fmt.Errorf("installing %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// temporary is the directory for the rivals' spills.
func temporary(k *Kit) string { return filepath.Join(k.work, "tmp") }

// entry returns the rival's side of a workload.
func (r rival) entry(w workload, venv string) Entry {
	if r.Package == "" {
		return Entry{Name: w.Pipe, Command: func(k *Kit, in, out string) Command {
			return Command{
				Args: []string{"sh", "-c", w.Pipe}, Stdin: in, Stdout: out,
				Env: []string{"LC_ALL=C", "TMPDIR=" + temporary(k)},
			}
		}}
	}
	script := w.Script
	if r.Name == "spark" {
		script = w.SparkScript
	}
	return Entry{Name: r.Package + " " + r.version(), Command: func(k *Kit, in, out string) Command {
		return Command{
			Args: []string{python(venv), filepath.Join(scriptsDir, r.Name, script+".py"), in, out},
			Env:  []string{"TMPDIR=" + temporary(k), "PYTHONDONTWRITEBYTECODE=1", "PYSPARK_PYTHON=" + python(venv)},
		}
	}}
}

// cannot returns why the rival has no entry for a workload, or "".
func (r rival) cannot(w workload) string {
	if r.Package == "" && w.Pipe == "" {
		return "no pipe does it"
	}
	return w.Cannot[r.Name]
}
