package cli

import (
	"cmp"
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

// hammrModule is the path of Hammr's module.
const hammrModule = "github.com/hammr/hammr"

// versionLine returns the release, else the version that Go records for `go install` or of Hammr in the
// program of another module, else "dev". Then it names that program, the Go version and platform, and the
// commit if the binary was built in a repository.
func versionLine(release string, built debug.BuildInfo) string {
	release, within := releaseOf(release, built), ""
	if m := built.Main; m.Path != "" && m.Path != hammrModule {
		within = " in " + strings.TrimSpace(m.Path+" "+strings.Trim(m.Version, "()"))
	}
	facts := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range built.Settings {
		// go build records this in a repository, unless -buildvcs=false.
		if s.Key == "vcs.revision" {
			facts = append(facts, "commit "+s.Value[:min(12, len(s.Value))])
		}
	}
	return fmt.Sprintf("hammr %s%s (%s)", cmp.Or(release, "dev"), within, strings.Join(facts, ", "))
}

// releaseOf returns the version of Hammr in a binary; "" if it was built from a work tree, for which Go
// records "(devel)" or a replacement.
func releaseOf(release string, built debug.BuildInfo) string {
	if release != "" {
		return release
	}
	for _, m := range append([]*debug.Module{&built.Main}, built.Deps...) {
		if m.Path == hammrModule && m.Replace == nil && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}
