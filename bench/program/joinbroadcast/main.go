// Command joinbroadcast adds up the orders of each region:
//
//	joinbroadcast customers orders out
//
// Lines of customers have a customer and a region, lines of orders a customer, an amount and an
// item, separated by tabs. It writes the region, the sum of amounts and the number of orders.
// Each Node that reads orders has all customers in memory.
package main

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// total is the sum of amounts and the number of orders.
type total struct{ Amount, Orders int64 }

func (t total) plus(other total) total {
	return total{t.Amount + other.Amount, t.Orders + other.Orders}
}

// AppendText writes both with a tab between.
func (t total) AppendText(dst []byte) ([]byte, error) {
	return fmt.Appendf(dst, "%d\t%d", t.Amount, t.Orders), nil
}

var job = mr.Define("joinbroadcast", struct{}{}, func(g *mr.Graph, _ struct{}) {
	customers := mr.Read(g, "customers", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]()).Broadcast()
	orders := mr.Read(g, "orders", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]())
	joined := mr.With(mr.Each(g, "join", &join{customers: customers}, orders.Pipe()), customers)
	sums := mr.Group(g, "sum", mr.Fold[[]byte](total.plus), joined.Shuffle().Combine(mr.Fold[[]byte](total.plus)))
	mr.Write(sums, mr.TextOutput[[]byte, total]())
})

// join looks up the customer of each order.
type join struct {
	customers *mr.Side[[]byte, []byte]
	regions   *mr.Lookup[[]byte, []byte]
}

// Setup implements mr.Setup.
func (j *join) Setup(t *mr.Task) error {
	j.regions = j.customers.Lookup(t)
	return nil
}

// Ahead implements mr.LooksAhead.
func (j *join) Ahead(customer, _ []byte) { j.regions.Ahead(customer) }

// Map implements mr.Mapper.
func (j *join) Map(_ *mr.Task, customer, order []byte, out mr.Emitter[[]byte, total]) error {
	region, known := j.regions.Get(customer)
	if !known {
		return nil
	}
	text, _, _ := bytes.Cut(order, []byte("\t"))
	amount, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("amount of an order: %w", err)
	}
	out.Emit(region, total{amount, 1})
	return nil
}

func main() { mr.Main(job) }
