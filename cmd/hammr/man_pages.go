//go:build manpages

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// main of a program with the tag manpages writes what packages contain beside the real one:
//
//	go run -tags manpages ./cmd/hammr DIR
//
// DIR/man gets a compressed manual page for each command, and DIR/completion a script for each
// shell.
func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: hammr DIR")
		os.Exit(exitUsage)
	}
	if err := writePackageFiles(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hammr:", err)
		os.Exit(exitFailed)
	}
}

// writePackageFiles writes the manual pages and the completions.
func writePackageFiles(dir string) error {
	root := newRoot()
	root.DisableAutoGenTag = true // its date would change each day
	for _, sub := range []string{"man", "completion"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	if err := writeManPages(root, filepath.Join(dir, "man")); err != nil {
		return err
	}
	completion := filepath.Join(dir, "completion", "hammr.")
	if err := root.GenBashCompletionFileV2(completion+"bash", true); err != nil {
		return err
	}
	if err := root.GenZshCompletionFile(completion + "zsh"); err != nil {
		return err
	}
	return root.GenFishCompletionFile(completion+"fish", true)
}

// writeManPages writes the page of a command and of those below it. The date of the pages is that
// of SOURCE_DATE_EPOCH.
func writeManPages(cmd *cobra.Command, dir string) error {
	for _, child := range cmd.Commands() {
		if !child.IsAvailableCommand() {
			continue
		}
		if err := writeManPages(child, dir); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Source: "hammr", Manual: "Hammr"}
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1.gz"
	return writeGzip(filepath.Join(dir, name), page.Bytes())
}

// writeGzip writes a compressed file without a time, so that it is the same each time.
func writeGzip(name string, data []byte) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, packed.Bytes(), 0o644)
}
