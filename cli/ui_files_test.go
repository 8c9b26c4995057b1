package cli

import (
	"strings"
	"testing"
)

func TestPagesOfFilesNeedThisMachine(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"ui --history " + dir + " --http 0.0.0.0:7079":       "pages without a cluster are served on this machine only",
		"ui --drills " + dir + " --http :7079":               "pages without a cluster are served on this machine only",
		"ui --history " + dir + "/none":                      "--history: open ",
		"ui --history " + dir + " --drills " + dir + "/none": "--drills: open ",
	} {
		code, _, stderr := call(strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}
