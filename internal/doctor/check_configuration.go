package doctor

import (
	"context"
	"strings"
)

// checkConfiguration reports files of --config that cannot be used. Other checks leave their daemons out.
func checkConfiguration(_ context.Context, t *Target) (found []Finding) {
	if len(t.Daemons) == 0 {
		return []Finding{skipped("no configuration of a daemon; name its file with --config")}
	}
	for _, d := range t.Daemons {
		if d.Err != nil {
			found = append(found, fault("correct "+d.Source, "%s", oneLine(d.Err)))
			continue
		}
		found = append(found, ok("%s: %s", d.Source, d.describe()))
	}
	return found
}

// oneLine returns the text of an error, which may be several joined errors, on one line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " ")
}
