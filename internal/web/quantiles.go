package web

import (
	"github.com/hammr/hammr/internal/docs"
)

// measureTexts say what the measures of docs.Measures are, and write their values.
var measureTexts = map[string]struct {
	what string
	text func(int64) string
}{
	"duration": {"duration", durationText}, "bytes": {"output", bytesText}, "records": {"records", numberText},
	"in": {"records in", numberText}, "spilled": {"spilled records", numberText},
}

func numberText(n int64) string { return countText(n) }

// quantileRow is a line of the table of quantiles: a measure of a group.
type quantileRow struct {
	Group docs.TaskGroup
	What  string
	Cells []quantileCell
}

// quantileCell is a quantile with the URL of the tasks that are at least as large.
type quantileCell struct{ Text, URL string }

// maxQuantileRows bounds the table of quantiles.
const maxQuantileRows = 60

// quantileRows returns the table of quantiles. It leaves out measures that are 0 for all tasks, and
// rows that are too many.
func quantileRows(v *view, groups []docs.TaskGroup) (rows []quantileRow, leftOut int) {
	for _, g := range groups {
		for _, m := range docs.Measures {
			q, texts := m.Of(g), measureTexts[m.Column]
			if q.Max == 0 {
				continue
			}
			if len(rows) == maxQuantileRows {
				leftOut++
				continue
			}
			row := quantileRow{Group: g, What: texts.what}
			for _, n := range q.List() {
				cell := quantileCell{Text: texts.text(n), URL: v.With("stage", g.Stage, "node", g.Node, "sort", "-"+m.Column)}
				if m.Column == "duration" && n > 0 {
					cell.URL = v.With("stage", g.Stage, "node", g.Node, "sort", "duration", "minDuration", n)
				}
				row.Cells = append(row.Cells, cell)
			}
			rows = append(rows, row)
		}
	}
	return rows, leftOut
}
