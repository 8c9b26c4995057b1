package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/web/draw"
)

// errNoDrills is the error of a server without reports of drills.
var errNoDrills = fmt.Errorf("this program has no directory of drills; start hammr ui with --drills DIR: %w", docs.ErrUnknown)

// withDrills is a source with the reports of drills, which belong to the server of the pages.
type withDrills struct {
	docs.Source
	drills docs.Table // nil for none
}

// Read implements docs.Source.
func (s withDrills) Read(ctx context.Context, e *docs.Entry, query any) (docs.Answer[any], error) {
	switch {
	case e != docs.Drills.Entry && e != docs.Drill.Entry:
		return s.Source.Read(ctx, e, query)
	case s.drills == nil:
		return docs.Answer[any]{}, errNoDrills
	}
	return s.drills.Read(ctx, s, e, query)
}

func showDrills(c *call) error {
	return c.render(http.StatusOK, "drills", "Drills", read(c, docs.Drills, docs.No{}), Command{"another drill", "hammr chaos run --report DIR"})
}

func showDrill(c *call) error {
	d := wanted(c, docs.Drill)
	if c.err != nil {
		return c.err
	}
	return c.render(http.StatusOK, "drill", "Drill "+d.Drill.ID, struct {
		docs.DrillReport
		Picture faultPicture
	}{d, drawFaultPicture(d.Verdict)}, Command{"the same drill again", "hammr chaos run --plan " + shellWord(d.Drill.ID+"/plan") + " --report DIR"})
}

// faultPicture is the timeline of the faults of a drill. Sizes are in units of the picture.
type faultPicture struct {
	Width, Height int
	Bars          []faultBar
	Ticks         []draw.Tick
	LeftOut       int // faults that the picture does not show
}

// faultBar is a fault in the picture: when it was injected, and how long the recovery took.
type faultBar struct {
	chaos.FaultResult
	X, Y, Length int
	Number       int // in the table
}

// Sizes of the picture of faults.
const (
	faultLeft, faultWidth, faultRow, faultTop = 40, 860, 20, 30
	maxFaultBars                              = 100
)

// drawFaultPicture draws the faults that were injected, one in a row.
func drawFaultPicture(v *chaos.Verdict) (p faultPicture) {
	end := max(v.Elapsed, 1)
	for i, f := range v.Faults {
		end = max(end, f.At+f.Recovery)
		switch {
		case !f.Injected:
		case len(p.Bars) == maxFaultBars:
			p.LeftOut++
		default:
			p.Bars = append(p.Bars, faultBar{FaultResult: f, Number: i + 1})
		}
	}
	at := func(ms int64) int { return faultLeft + int(ms*faultWidth/end) }
	for i := range p.Bars {
		f := &p.Bars[i]
		until := f.At + f.Recovery
		if f.TimedOut {
			until = end
		}
		f.X, f.Y = at(f.At), faultTop+i*faultRow
		f.Length = max(at(until)-f.X, 2)
	}
	p.Ticks = durationScale.Ticks(float64(end), func(ms float64) float64 { return float64(at(int64(ms))) })
	p.Width, p.Height = faultLeft+faultWidth+60, faultTop+len(p.Bars)*faultRow+6
	return p
}
