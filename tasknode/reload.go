package tasknode

import (
	"errors"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// Offer is what a machine offers to the cluster. It may change while the daemon runs.
type Offer struct {
	MapSlots, ReduceSlots int   // attempts of each kind that may run at once
	MemoryMB              int64 // memory that attempts may take together, in MiB; 0 for any amount
	Rack                  string
}

// Reload replaces what the machine offers. It does not wait. If the machine then offers less than
// running attempts use, they run to their end and the master starts no others meanwhile.
func (d *Daemon) Reload(o Offer) {
	d.inbox.Put(func() {
		before := d.offer
		if before == o {
			return
		}
		d.offer = o
		d.counts.offeredMB.Store(o.MemoryMB)
		if d.session != nil {
			d.send(d.describeMachine())
		}
		d.cfg.Logger.Info("offer changed", "map slots", o.MapSlots, "reduce slots", o.ReduceSlots, "MiB", o.MemoryMB, "rack", o.Rack)
	})
}

// errNoSlots is the answer to an order that leaves no slots.
var errNoSlots = errors.New("it would have no slots of the other kind either, and run nothing; 'hammr node remove' or 'hammr node drain' does that")

// setSlots sets the slots as a master orders, once Config.KeepSlots has kept them. It answers with a Joined report.
func (d *Daemon) setSlots(o *wire.Order_SetSlots) {
	slots := [2]int{d.offer.MapSlots, d.offer.ReduceSlots}
	for kind, n := range []int32{o.MapSlots, o.ReduceSlots} {
		if n >= 0 {
			slots[kind] = int(n)
		}
	}
	d.workers.Go(func() {
		err := errNoSlots
		if slots != [2]int{} {
			err = d.cfg.KeepSlots(slots[0], slots[1])
		}
		d.inbox.Put(func() {
			set := new(wire.Report_SlotsSet)
			if err != nil {
				set.Error = err.Error()
			} else {
				d.offer.MapSlots, d.offer.ReduceSlots = slots[0], slots[1]
				d.cfg.Logger.Info("slots set by a master", "map", slots[0], "reduce", slots[1])
			}
			joined := d.describeMachine()
			joined.GetJoined().SlotsSet = set
			d.send(joined)
		})
	})
}
