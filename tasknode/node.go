package tasknode

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/hammr/hammr/internal/mailbox"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// Node runs the attempts of one machine.
type Node struct {
	cfg      Config
	attempts map[string]*attempt // that are not over, by id
	seen     map[string]string   // every attempt ever ordered and its job, so that it is started once
	jobs     map[string]*job
	ended    *mailbox.Mailbox[*attempt]
	workers  sync.WaitGroup
}

// New makes a node. Run runs it.
func New(cfg Config) (*Node, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Node{
		cfg:      cfg,
		attempts: make(map[string]*attempt),
		seen:     make(map[string]string),
		jobs:     make(map[string]*job),
		ended:    mailbox.New[*attempt](),
	}, nil
}

// Run joins the cluster and follows orders until ctx ends or the link is gone.
// Then it kills the attempts that run and waits for them.
func (n *Node) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer n.workers.Wait()
	defer cancel() // which kills the attempts
	n.cfg.Link.Report(&wire.Report{Machine: n.cfg.Name, Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{
		MapSlots: int32(n.cfg.MapSlots), ReduceSlots: int32(n.cfg.ReduceSlots), Hosts: n.cfg.Hosts,
	}}})
	orders := make(chan []*wire.Order)
	var linkErr error
	n.workers.Go(func() {
		linkErr = n.listen(ctx, orders)
		close(orders)
	})
	for {
		select {
		case batch, open := <-orders:
			if !open {
				return linkErr
			}
			for _, o := range batch {
				n.follow(ctx, o)
			}
		case <-n.ended.Ready():
			for _, a := range n.ended.Take() {
				n.forget(a)
			}
		}
	}
}

// listen hands orders to the loop until the link is gone.
func (n *Node) listen(ctx context.Context, orders chan<- []*wire.Order) error {
	for {
		batch, err := n.cfg.Link.Orders(ctx)
		if err != nil {
			return err
		}
		orders <- batch
	}
}

func (n *Node) follow(ctx context.Context, o *wire.Order) {
	switch o := o.Order.(type) {
	case *wire.Order_Start:
		n.start(ctx, o.Start.Start)
	case *wire.Order_Kill:
		if a := n.attempts[o.Kill.AttemptId]; a != nil {
			a.kill(o.Kill.Cause)
		}
	case *wire.Order_Stop:
		n.tell(o.Stop.AttemptId, &taskproc.ToTask{Message: &taskproc.ToTask_Stop{Stop: &taskproc.Stop{Position: o.Stop.Position}}})
	case *wire.Order_Pause:
		n.tell(o.Pause.AttemptId, &taskproc.ToTask{Message: &taskproc.ToTask_Pause{Pause: &taskproc.Pause{}}})
	case *wire.Order_Outputs_:
		n.publish(o.Outputs)
	case *wire.Order_RemoveJob_:
		n.removeJob(o.RemoveJob.JobId)
	}
}

func (n *Node) start(ctx context.Context, start *taskproc.Start) {
	if _, twice := n.seen[start.AttemptId]; twice {
		return
	}
	n.seen[start.AttemptId] = start.JobId
	start.LocalDir = filepath.Join(n.jobDir(start.JobId), start.AttemptId)
	a := newAttempt(n, start)
	n.attempts[start.AttemptId] = a
	if start.Kind == taskproc.Kind_REDUCE {
		a.inbox.Put(n.job(start.JobId).all())
	}
	n.workers.Go(func() {
		a.run(ctx)
		n.ended.Put(a)
	})
}

func (n *Node) tell(attempt string, m *taskproc.ToTask) {
	if a := n.attempts[attempt]; a != nil {
		a.inbox.Put(m)
	}
}

// forget ends the bookkeeping of an attempt that is over.
func (n *Node) forget(a *attempt) {
	delete(n.attempts, a.start.AttemptId)
	if j := n.jobs[a.start.JobId]; j != nil && j.removed {
		n.removeJob(a.start.JobId)
	}
}

func (n *Node) jobDir(id string) string { return filepath.Join(n.cfg.Dir, id) }

// removeJob removes the local files of a job once its last attempt is over.
func (n *Node) removeJob(id string) {
	j := n.job(id)
	j.removed = true
	for _, a := range n.attempts {
		if a.start.JobId == id {
			return
		}
	}
	if err := removeTree(n.jobDir(id)); err != nil {
		n.cfg.Logger.Warn("local files of a job stay", "job", id, "error", err)
	}
	delete(n.jobs, id)
	for attempt, job := range n.seen {
		if job == id {
			delete(n.seen, attempt)
		}
	}
}
