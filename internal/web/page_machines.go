package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
)

// RackPicture shows tasknodes by rack, with their slots. Sizes are in units of the picture.
type RackPicture struct {
	Width, Height int
	Racks         []RackBox
	LeftOut       int // tasknodes without a box, because there are too many
}

// RackBox is a rack.
type RackBox struct {
	Name  string
	Y     int // of its name
	Nodes []NodeBox
}

// NodeBox is a tasknode. Its slots are cells or, if there are many, two bars.
type NodeBox struct {
	apidoc.Tasknode
	X, Y, Width, Height int
	Cells               []SlotCell
	Bars                []SlotCell
}

// SlotCell is a slot, or the part of a bar that is in use. Kind is map or reduce.
type SlotCell struct {
	X, Y, Width int
	Kind        string
	Used        bool
}

// Sizes of the picture, and bounds of its elements.
const (
	nodeWidth, nodeHeight = 130, 48
	nodesInRow            = 7
	cellSize              = 10
	maxCells              = 900 // slots that are shown one by one
	maxNodeBoxes          = 350
)

// drawRacks places tasknodes by rack.
func drawRacks(nodes []apidoc.Tasknode) (p RackPicture) {
	slots := 0
	byRack := make(map[string][]apidoc.Tasknode)
	for i, n := range nodes {
		if i >= maxNodeBoxes {
			p.LeftOut++
			continue
		}
		slots += int(n.MapSlots + n.ReduceSlots)
		byRack[n.Rack] = append(byRack[n.Rack], n)
	}
	for _, rack := range sortedKeys(byRack) {
		p.Height += 18
		box := RackBox{Name: rack, Y: p.Height - 4}
		for i, n := range byRack[rack] {
			b := NodeBox{Tasknode: n, X: i % nodesInRow * (nodeWidth + 8), Y: p.Height + i/nodesInRow*(nodeHeight+8), Width: nodeWidth, Height: nodeHeight}
			b.fill(slots <= maxCells)
			box.Nodes = append(box.Nodes, b)
			p.Width = max(p.Width, b.X+nodeWidth)
		}
		p.Height += (len(box.Nodes)+nodesInRow-1)/nodesInRow*(nodeHeight+8) + 6
		p.Racks = append(p.Racks, box)
	}
	return p
}

// fill adds the slots of the tasknode: a cell for each if they fit, else a bar for each kind.
func (b *NodeBox) fill(cells bool) {
	const inside, perRow = nodeWidth - 12, (nodeWidth - 12) / (cellSize + 2)
	kinds := []struct {
		name       string
		used, have int32
	}{{"map", b.MapsRunning, b.MapSlots}, {"reduce", b.ReducesRunning, b.ReduceSlots}}
	for row, k := range kinds {
		y := 20 + row*(cellSize+3)
		if cells && max(b.MapSlots, b.ReduceSlots) <= perRow {
			for i := range k.have {
				b.Cells = append(b.Cells, SlotCell{X: 6 + int(i)*(cellSize+2), Y: y, Width: cellSize, Kind: k.name, Used: i < k.used})
			}
			continue
		}
		b.Bars = append(b.Bars, SlotCell{X: 6, Y: y, Width: inside, Kind: k.name})
		if k.have > 0 && k.used > 0 {
			b.Bars = append(b.Bars, SlotCell{X: 6, Y: y, Width: inside * int(min(k.used, k.have)) / int(k.have), Kind: k.name, Used: true})
		}
	}
}

// CellHeight returns the height of a slot.
func (NodeBox) CellHeight() int { return cellSize }

// Short returns the name of the tasknode without its domain, and without its end if it is long.
func (b NodeBox) Short() string {
	name, _, _ := strings.Cut(b.Name, ".")
	if text := []rune(name); len(text) > 17 {
		return string(text[:16]) + "…"
	}
	return name
}

// rackSums adds up a rack for the table of racks.
type rackSums struct {
	Name                                             string
	Nodes, Running                                   int
	MapSlots, MapsRunning, ReduceSlots, ReducesInUse int32
}

// racksOf returns the sums of all racks, by name.
func racksOf(nodes []apidoc.Tasknode) (racks []rackSums) {
	for _, n := range nodes {
		i := slices.IndexFunc(racks, func(r rackSums) bool { return r.Name == n.Rack })
		if i < 0 {
			racks = append(racks, rackSums{Name: n.Rack})
			i = len(racks) - 1
		}
		r := &racks[i]
		r.Nodes++
		if n.State == "RUNNING" {
			r.Running++
		}
		r.MapSlots, r.MapsRunning = r.MapSlots+n.MapSlots, r.MapsRunning+n.MapsRunning
		r.ReduceSlots, r.ReducesInUse = r.ReduceSlots+n.ReduceSlots, r.ReducesInUse+n.ReducesRunning
	}
	slices.SortFunc(racks, func(a, b rackSums) int { return strings.Compare(a.Name, b.Name) })
	return racks
}

func showNodes(c *call) error {
	a, err := c.cfg.Source.Nodes(c.ctx)
	nodes, err := use(c, a, err)
	if err != nil {
		return err
	}
	states := make(map[string]int)
	var kept []apidoc.Tasknode
	keep := func(n *apidoc.Tasknode) bool {
		states[n.State]++
		if c.params["state"] != "" && c.params["state"] != n.State {
			return false
		}
		kept = append(kept, *n)
		return true
	}
	rows, total, next, err := PageOf(nodes, keep, NodeColumns, pageOf(c.params), "name", "nodes")
	if err != nil {
		return err
	}
	table := newTable(c, rows, total, states, next, NodeColumns)
	table.CSV = ""
	return c.render(http.StatusOK, "nodes", "Nodes", struct {
		tableData[apidoc.Tasknode]
		Picture RackPicture
		Racks   []rackSums
	}{table, drawRacks(kept), racksOf(kept)}, Command{"all tasknodes", "hammr node list --all"})
}

func showMasters(c *call) error {
	a, err := c.cfg.Source.Masters(c.ctx)
	masters, err := use(c, a, err)
	if err != nil {
		return err
	}
	type row struct {
		apidoc.Master
		Forms   []Form
		Profile *profileForm
	}
	var rows []row
	for _, m := range masters.Masters {
		r := row{Master: m}
		if m.State != "unreachable" {
			r.Profile = newProfileForm("master", m.ID)
		}
		switch {
		case m.ID == masters.Leader:
		case m.State == "follower" && !m.NonVoter:
			r.Forms = formsOn(actionsOn("master", "add"), m.ID, nil)
		default:
			r.Forms = formsOn(actionsOn("master", "add", "transfer"), m.ID, nil)
		}
		rows = append(rows, r)
	}
	return c.render(http.StatusOK, "masters", "Masters", struct {
		apidoc.Masters
		Rows []row
	}{masters, rows}, Command{"all masters", "hammr master status"}, Command{"another master", "hammr master add ID HOST:PORT"})
}

// Hidden returns how many tasknodes the picture leaves out, as a sentence; "" for none.
func (p RackPicture) Hidden() string {
	if p.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf("%d other nodes have no place in the picture; the list has them all.", p.LeftOut)
}
