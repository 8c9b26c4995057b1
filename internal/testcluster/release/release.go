// Package release builds programs of the last release, whose commit is in .ci/last-release, from the repository's
// history. Tests of upgrades start clusters of them. Only tests import it, so no program that ships runs git or the
// Go command.
package release

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

// ErrNoHistory says that the sources of the last release are not on this machine, because there
// is no git, no repository, or a repository without its history.
var ErrNoHistory = errors.New("release: no sources of the last release")

// commitFile contains the commit of the last release. It is changed at each release.
const commitFile = ".ci/last-release"

// Last builds a command of the last release, such as cmd/hammr, from the repository that
// the working directory is in. The program stays in Go's build cache and must not be changed.
// The error wraps ErrNoHistory if nothing is wrong except that the sources are missing.
func Last(ctx context.Context, command string) (program string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	commit, err := lastCommit(ctx, root)
	if err != nil {
		return "", err
	}
	cache, err := output(ctx, root, "go", "env", "GOCACHE")
	if err != nil {
		return "", err
	}
	program = filepath.Join(cache, "hammr-releases", commit+"-"+runtime.Version(), path.Base(command))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := build(ctx, root, commit, command, program); err != nil {
		return "", fmt.Errorf("build of %s of release %s: %w", command, commit, err)
	}
	return program, nil
}

// moduleRoot returns the directory of the module that the working directory is in.
func moduleRoot() (string, error) {
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

// lastCommit returns the commit of the last release, which is in the repository.
func lastCommit(ctx context.Context, root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, commitFile))
	if err != nil {
		return "", err
	}
	commit := strings.TrimSpace(string(text))
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s is no repository", ErrNoHistory, root)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoHistory, err)
	}
	if _, err := output(ctx, root, "git", "cat-file", "-e", commit+"^{commit}"); err != nil {
		if shallow, _ := output(ctx, root, "git", "rev-parse", "--is-shallow-repository"); shallow == "true" {
			return "", fmt.Errorf("%w: %s is a shallow clone", ErrNoHistory, root)
		}
		return "", fmt.Errorf("commit %s of %s is not in the repository: %w", commit, commitFile, err)
	}
	return commit, nil
}

// build builds a command of a commit. It takes the sources from the repository and removes
// them afterwards.
func build(ctx context.Context, root, commit, command, program string) (err error) {
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
		if _, err := output(ctx, step[0], step[1], step[2:]...); err != nil {
			return err
		}
	}
	return os.Rename(built, program)
}

// output runs a tool in a directory and returns what it prints. Programs are static, as
// releases are.
func output(ctx context.Context, dir, tool string, args ...string) (string, error) {
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
