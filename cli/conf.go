package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/conf"
)

// newConf asks no daemon: the table of properties is compiled in, and the files are those of
// this machine. It exits with 1 if no property matches.
func newConf() *cobra.Command {
	return &cobra.Command{
		Use:   "conf [NAME | WORD]",
		Short: "List the properties that -D sets, with their defaults",
		Long: `List the properties that -D and the files of HADOOP_CONF_DIR set, with their
defaults. NAME shows one property in full; any other WORD lists the properties
that have it in their name, their description or a deprecated name.`,
		Example: `  hammr conf mapreduce.job.reduces
  hammr conf compress`,
		Args: cobra.MaximumNArgs(1),
		RunE: interruptible(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				listProperties(cmd.OutOrStdout(), conf.Keys())
				return nil
			}
			return showProperties(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0])
		}),
		// Shells complete names of properties, with their meaning.
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, k := range conf.Keys() {
				names = append(names, k.Name+"\t"+k.Doc)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// showProperties prints the property with that name or old name in full. If there is none,
// it lists the properties that contain the word.
func showProperties(stdout, stderr io.Writer, word string) error {
	var matching []conf.Key
	for _, k := range conf.Keys() {
		// An exact name wins over other properties that contain it.
		if k.Name == word || slices.Contains(k.Aliases, word) {
			return describe(stdout, stderr, k)
		}
		if matchesWord(k, word) {
			matching = append(matching, k)
		}
	}
	if len(matching) == 0 {
		return fmt.Errorf("property %s: not one that is read here; 'hammr conf' lists them all", word)
	}
	listProperties(stdout, matching)
	return nil
}

// matchesWord ignores case.
func matchesWord(k conf.Key, word string) bool {
	text := strings.ToLower(strings.Join(append(k.Aliases[:len(k.Aliases):len(k.Aliases)], k.Name, k.Doc), "\n"))
	return strings.Contains(text, strings.ToLower(word))
}

// listProperties prints name=default, as a site's file would set it, and the meaning.
func listProperties(w io.Writer, keys []conf.Key) {
	for _, k := range keys {
		fmt.Fprintf(w, "%s=%s\n    %s\n", k.Name, escaped(k.Default), k.Doc)
	}
}

// describe prints one property, and its value in the files of HADOOP_CONF_DIR if it is set
// there. It lists deprecated names on a line that begins with "once".
func describe(w, stderr io.Writer, k conf.Key) error {
	c, err := genericOptions{}.load(stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n    %s\n\n", k.Name, k.Doc)
	fmt.Fprintf(w, "  expects  %v\n", k.Kind)
	fmt.Fprintf(w, "  default  %s\n", escaped(k.Default))
	if c.IsSet(k.Name) {
		fmt.Fprintf(w, "  is set   %s\n", escaped(c.String(k.Name)))
	}
	if len(k.Aliases) > 0 {
		fmt.Fprintf(w, "  once     %s\n", strings.Join(k.Aliases, ", "))
	}
	return nil
}

// escaped returns a value as a user types it. If it has control characters, such as a
// newline as record delimiter, it is escaped and quoted; other values stay as they are.
func escaped(value string) string {
	quoted := fmt.Sprintf("%q", value)
	if quoted[1:len(quoted)-1] == value {
		return value
	}
	return quoted
}
