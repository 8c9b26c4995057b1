package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/cli"
	"github.com/hammr/hammr/internal/testing/must"
)

// manual returns the manual pages by their file names.
func manual(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man")
	must.Do(t, writeManual(cli.Commands(), dir))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must.Do(t, err)
	pages := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		pages[filepath.Base(file)] = string(text)
	}
	return pages
}

// TestManual checks that each command has a page, and that pages do not depend on the machine or
// the time.
func TestManual(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	pages := manual(t)
	if again := manual(t); !maps.Equal(pages, again) {
		t.Error("the pages differ when they are written again")
	}
	var want []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		file := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		want = append(want, file)
		if page := pages[file]; !strings.Contains(page, "Nov 2023") || !strings.Contains(page, ".SH SYNOPSIS") {
			t.Errorf("%s:\n%s", file, page)
		}
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				walk(child)
			}
		}
	}
	root := cli.Commands()
	root.InitDefaultCompletionCmd()
	walk(root)
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(pages)); !slices.Equal(got, want) {
		t.Errorf("pages %q\nwant %q", got, want)
	}
	host, err := os.Hostname()
	must.Do(t, err)
	if strings.Contains(pages["hammr-tasknode.1"], "="+host) {
		t.Errorf("the page contains the name of this machine, %s", host)
	}
}
