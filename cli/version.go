package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is set by the linker in releases: -ldflags "-X github.com/hammr/hammr/cli.version=v1.2.3".
var version = ""

// newVersion asks no daemon: it shows this binary.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of hammr and what it was built from",
		Example: "  hammr version",
		Args:    cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintln(cmd.OutOrStdout(), ownVersion())
		},
	}
}

// ownVersion describes this binary; reports of experiments have it too.
func ownVersion() string {
	var built debug.BuildInfo
	if info, ok := debug.ReadBuildInfo(); ok {
		built = *info
	}
	return versionLine(version, built)
}

// versionLine returns the release, else the version that Go records for `go install`, else
// "dev". Then it names the Go version and platform, and the commit if the binary was built
// in a repository.
func versionLine(release string, built debug.BuildInfo) string {
	// Go records "(devel)" for a build of a work tree.
	if v := built.Main.Version; release == "" && v != "(devel)" {
		release = v
	}
	if release == "" {
		release = "dev"
	}
	facts := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range built.Settings {
		// go build records this in a repository, unless -buildvcs=false.
		if s.Key == "vcs.revision" {
			facts = append(facts, "commit "+s.Value[:min(12, len(s.Value))])
		}
	}
	return fmt.Sprintf("hammr %s (%s)", release, strings.Join(facts, ", "))
}
