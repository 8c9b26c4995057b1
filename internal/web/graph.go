package web

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Graph is the picture of a job's stages: each is a box, and an arrow leads from a stage to each stage
// that reads its output. Stages are in columns: each is to the right of those that it reads. After
// maxColumns columns the picture continues below. Sizes are in units of the picture.
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

// Arrow leads from a stage to one that reads its output.
type Arrow struct {
	From, To string // names of the stages
	Path     string
	X, Y     int    // of the label
	Label    string // bytes that have been written; "" if none have
}

// Sizes of the picture.
const (
	boxWidth, boxHeight = 220, 88
	columnGap, rowGap   = 90, 26
	margin              = 4
	barWidth            = boxWidth - 24
	maxColumns          = 4
	gutter              = 18 // from a box to an arrow that leads below
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

// drawGraph draws the stages. written has the bytes that each stage has written, by its code. Stages
// that a stage reads and that are not in the list are left out.
func drawGraph(stages []apidoc.Stage, written map[string]int64) (g Graph) {
	reads := readsOf(stages)
	layer := layersOf(reads)
	tops := make([]int, len(stages))
	at := make(map[string]*Box, len(stages))
	bottom := 0 // of the band above
	for first := 0; first < len(stages); first += maxColumns {
		bandTop := bottom
		for column := range maxColumns {
			for row, n := range orderInLayer(first+column, layer, reads, tops) {
				b := newBox(stages[n])
				b.X, b.Y = margin+column*(boxWidth+columnGap), margin+bandTop+row*(boxHeight+rowGap)
				tops[n], at[b.Name] = b.Y, &b
				g.Boxes = append(g.Boxes, b)
				g.Width, g.Height = max(g.Width, b.X+boxWidth+gutter+margin), max(g.Height, b.Y+boxHeight+margin)
				bottom = max(bottom, b.Y+boxHeight+2*rowGap-margin)
			}
		}
	}
	for n, sources := range reads {
		for _, source := range sources {
			g.Arrows = append(g.Arrows, newArrow(at[stages[source].Name], at[stages[n].Name], written))
		}
	}
	return g
}

func newBox(s apidoc.Stage) Box {
	b := Box{Stage: s, Width: boxWidth, Height: boxHeight}
	if s.Tasks > 0 {
		b.Done = barWidth * int(s.Finished) / int(s.Tasks)
		b.Started = min(barWidth, barWidth*int(s.Finished+s.Running)/int(s.Tasks))
	}
	return b
}

// readsOf returns for each stage the places of those that it reads. A stage reads only stages before
// it in the list, as the order of a graph is.
func readsOf(stages []apidoc.Stage) [][]int {
	place := make(map[string]int)
	reads := make([][]int, len(stages))
	for n, s := range stages {
		for _, name := range s.Reads {
			if source, known := place[name]; known {
				reads[n] = append(reads[n], source)
			}
		}
		place[s.Name] = n
	}
	if len(stages) == 2 && stages[0].Slot == "map" && stages[1].Slot == "reduce" {
		reads[1] = []int{0} // histories of older programs do not say so
	}
	return reads
}

// layersOf returns the column of each stage: the length of the longest path to it. If no stage is
// known to read another, each has a column of its own.
func layersOf(reads [][]int) []int {
	layer := make([]int, len(reads))
	known := slices.ContainsFunc(reads, func(sources []int) bool { return len(sources) > 0 })
	for n, sources := range reads {
		if !known {
			layer[n] = n
		}
		for _, source := range sources {
			layer[n] = max(layer[n], layer[source]+1)
		}
	}
	next := make([]int, len(reads)) // column of the first reader of each stage
	for n, sources := range reads {
		for _, source := range sources {
			if next[source] == 0 || layer[n] < next[source] {
				next[source] = layer[n]
			}
		}
	}
	for n, sources := range reads { // a stage that reads none is beside its first reader
		if len(sources) == 0 && next[n] > 0 {
			layer[n] = next[n] - 1
		}
	}
	return layer
}

// orderInLayer returns the stages of a column from top to bottom: ordered by the mean height of those
// that they read, so that few arrows cross. tops has the heights of the stages in the columns before.
func orderInLayer(column int, layer []int, reads [][]int, tops []int) (order []int) {
	height := make(map[int]float64)
	for n, l := range layer {
		if l != column {
			continue
		}
		order = append(order, n)
		for _, source := range reads[n] {
			height[n] += float64(tops[source]) / float64(len(reads[n]))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(height[a], height[b]) })
	return order
}

// newArrow draws an arrow from the right side of a box to the left side of another, or to its upper
// side if the picture continues below.
func newArrow(from, to *Box, written map[string]int64) Arrow {
	a := Arrow{From: from.Name, To: to.Name}
	if n := written[from.Code]; n > 0 {
		a.Label = bytesText(n)
	}
	x1, y1, x2, y2 := from.X+boxWidth, from.Y+boxHeight/2, to.X, to.Y+boxHeight/2
	a.X, a.Y = (x1+x2)/2, (y1+y2)/2-6
	switch bend := (x2 - x1) / 2; {
	case x2 <= x1:
		a.Path = fmt.Sprintf("M%d %dH%dV%dH%dV%d", x1, y1, x1+gutter, to.Y-rowGap*2/3, to.X+boxWidth/2, to.Y)
		a.X, a.Y = (x1+x2+boxWidth/2)/2, to.Y-rowGap*2/3-3
	case x2 > x1+columnGap: // below the boxes between them
		low := from.Y + boxHeight + rowGap/2
		a.Path = fmt.Sprintf("M%d %dC%d %d %d %d %d %dH%dC%d %d %d %d %d %d", x1, y1, x1+columnGap/2, y1, x1+columnGap/2, low, x1+columnGap, low,
			x2-columnGap, x2-columnGap/2, low, x2-columnGap/2, y2, x2, y2)
		a.X, a.Y = (x1+x2)/2, low-2
	default:
		a.Path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
	}
	return a
}
