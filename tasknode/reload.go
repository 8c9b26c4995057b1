package tasknode

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
