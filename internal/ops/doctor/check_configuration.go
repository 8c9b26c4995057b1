package doctor

import (
	"context"
	"strings"
)

// configured returns the daemons that files of --config describe.
func configured(t *Target) []Daemon { return t.Daemons }

// judgeConfiguration reports a file of --config that cannot be used. Other checks leave its daemon out.
func judgeConfiguration(_ context.Context, _ *Target, d Daemon) Finding {
	if d.Err != nil {
		return fault("correct "+d.Source, "%s", oneLine(d.Err))
	}
	return ok("%s: %s", d.Source, d.describe())
}

// oneLine returns the text of an error, which may be several joined errors, on one line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " ")
}
