//go:build soak

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// errNoHistory says that the sources of the last release are not on this machine, because there
// is no git, no repository, or a repository without its history.
var errNoHistory = errors.New("release: no sources of the last release")

// releaseFile contains the commit of the last release. It is changed at each release.
const releaseFile = ".ci/last-release"

// releaseProgram builds a command of the last release, such as cmd/hammr, from the repository that
// the working directory is in. The program stays in Go's build cache and must not be changed.
// The error wraps errNoHistory if nothing is wrong except that the sources are missing.
func releaseProgram(ctx context.Context, command string) (program string, err error) {
	root, err := releaseRoot()
	if err != nil {
		return "", err
	}
	commit, err := releaseCommit(ctx, root)
	if err != nil {
		return "", err
	}
	cache, err := toolOutput(ctx, root, "go", "env", "GOCACHE")
	if err != nil {
		return "", err
	}
	program = filepath.Join(cache, "hammr-releases", commit+"-"+runtime.Version(), path.Base(command))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := buildRelease(ctx, root, commit, command, program); err != nil {
		return "", fmt.Errorf("build of %s of release %s: %w", command, commit, err)
	}
	return program, nil
}

// releaseRoot returns the directory of the module that the working directory is in.
func releaseRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("release: the working directory is in no module")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// releaseCommit returns the commit of the last release, which is in the repository.
func releaseCommit(ctx context.Context, root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, releaseFile))
	if err != nil {
		return "", err
	}
	commit := strings.TrimSpace(string(text))
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s is no repository", errNoHistory, root)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return "", fmt.Errorf("%w: %w", errNoHistory, err)
	}
	if _, err := toolOutput(ctx, root, "git", "cat-file", "-e", commit+"^{commit}"); err != nil {
		if shallow, _ := toolOutput(ctx, root, "git", "rev-parse", "--is-shallow-repository"); shallow == "true" {
			return "", fmt.Errorf("%w: %s is a shallow clone", errNoHistory, root)
		}
		return "", fmt.Errorf("commit %s of %s is not in the repository: %w", commit, releaseFile, err)
	}
	return commit, nil
}

// buildRelease builds a command of a commit. It takes the sources from the repository and removes
// them afterwards.
func buildRelease(ctx context.Context, root, commit, command, program string) (err error) {
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(program), "build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sources, archive, built := filepath.Join(dir, "src"), filepath.Join(dir, "src.tar"), filepath.Join(dir, "program")
	if err := os.Mkdir(sources, 0o755); err != nil {
		return err
	}
	for _, step := range [][]string{
		{root, "git", "archive", "--output", archive, commit},
		{sources, "tar", "-xf", archive},
		{sources, "go", "build", "-buildvcs=false", "-o", built, "./" + command},
	} {
		if _, err := toolOutput(ctx, step[0], step[1], step[2:]...); err != nil {
			return err
		}
	}
	return os.Rename(built, program)
}

// toolOutput runs a tool in a directory and returns what it prints. Programs are static, as
// releases are.
func toolOutput(ctx context.Context, dir, tool string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", tool, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
