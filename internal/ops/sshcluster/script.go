package sshcluster

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

//go:embed script.sh
var functions string

// script returns the script that calls functions of script.sh on a host. The calls are a
// function, which a shell reads to its end before it runs any of it: a script that is cut off
// by a lost connection does nothing.
func (p *Plan) script(h *Host, calls ...string) string {
	return p.variables(h) + functions + "\nmain() {\n" + strings.Join(calls, "\n") + "\n}\nmain\n"
}

// variables returns the assignments that script.sh needs.
func (p *Plan) variables(h *Host) string {
	return fmt.Sprintf("dir=%s\nunits=%s\nhost=%s\nid=%s\nconf=%s\n", hostfile.Quote(h.Dir), h.units, hostfile.Quote(h.Name), hostfile.Quote(p.ClusterID), hostfile.Quote(p.confDir(h)))
}

// putCall returns the call that stores a file, which is a word of a shell. The content travels in the script itself, so it
// is on no command line. It ends with a line break.
func putCall(file, mode, content string) string {
	end := "END"
	for strings.Contains("\n"+content, "\n"+end+"\n") {
		end += "_"
	}
	return fmt.Sprintf("put %s %s <<'%s'\n%s%s", file, mode, end, content, end)
}
