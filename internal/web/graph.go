package web

import (
	"github.com/hammr/hammr/internal/apidoc"
)

// Graph is the picture of a job's stages. Sizes are in units of the picture.
type Graph struct {
	Width, Height int
	Boxes         []Box
	Arrows        []Arrow
}

// Box is a stage.
type Box struct {
	apidoc.Stage
	X, Y, Width, Height int
	Done, Started       int // widths of the bar's parts
}

// Arrow leads from a stage to the one beside it, which reads its output.
type Arrow struct{ X1, X2, Y int }

// Sizes of the picture.
const (
	boxWidth, boxHeight = 220, 74
	columnGap, rowGap   = 70, 22
	margin              = 4
	barWidth            = boxWidth - 24
)

// BarWidth returns the width of the whole bar.
func (Box) BarWidth() int { return barWidth }

// maxLabel bounds the name of a stage in the picture, in characters.
const maxLabel = 26

// Short returns the name of the stage, without its middle if it is long.
func (b Box) Short() string {
	name := []rune(b.Name)
	if len(name) <= maxLabel {
		return b.Name
	}
	return string(name[:maxLabel/2]) + "…" + string(name[len(name)-maxLabel/2:])
}

// maxColumns bounds the stages beside each other.
const maxColumns = 4

// drawGraph places the stages in their order, row by row. The API does not report which stage
// reads which, so only the graph of one map stage and one reduce stage has an arrow.
func drawGraph(stages []apidoc.Stage) (g Graph) {
	for i, s := range stages {
		b := Box{Stage: s, X: margin + i%maxColumns*(boxWidth+columnGap), Y: margin + i/maxColumns*(boxHeight+rowGap), Width: boxWidth, Height: boxHeight}
		if s.Tasks > 0 {
			b.Done = barWidth * int(s.Finished) / int(s.Tasks)
			b.Started = min(barWidth, barWidth*int(s.Finished+s.Running)/int(s.Tasks))
		}
		g.Boxes = append(g.Boxes, b)
		g.Width, g.Height = max(g.Width, b.X+boxWidth+margin), max(g.Height, b.Y+boxHeight+margin)
	}
	if len(stages) == 2 && stages[0].Slot == "map" && stages[1].Slot == "reduce" {
		y := margin + boxHeight/2
		g.Arrows = []Arrow{{margin + boxWidth, margin + boxWidth + columnGap, y}}
	}
	return g
}
