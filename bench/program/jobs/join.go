package main

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// joinBroadcast adds up the orders of each region: it writes the region, the sum of amounts and
// the number of orders. Its inputs are customers and orders. Each node that reads orders has all
// customers in memory.
var joinBroadcast = mr.Define("joinbroadcast", nothing{}, func(g *mr.Graph, _ nothing) {
	customers := mr.Read(g, "customers", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]()).Broadcast()
	orders := mr.Read(g, "orders", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]())
	joined := mr.With(mr.Each(g, "join", &lookup{customers: customers}, orders.Pipe()), customers)
	writeSums(g, joined)
})

// joinShuffle does the same, and shuffles both inputs by customer. It needs no memory for all
// customers.
var joinShuffle = mr.Define("joinshuffle", nothing{}, func(g *mr.Graph, _ nothing) {
	customers := mr.Read(g, "customers", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]())
	orders := mr.Read(g, "orders", mr.KeyValueText(), mr.MapFunc(emitAmount))
	writeSums(g, mr.CoGroup(g, "join", mr.CoReduceFunc(joinCustomer), customers.Shuffle(), orders.Shuffle()))
})

// total is the sum of amounts and the number of orders.
type total struct{ Amount, Orders int64 }

func (t total) plus(other total) total {
	return total{t.Amount + other.Amount, t.Orders + other.Orders}
}

// AppendText writes both with a tab between.
func (t total) AppendText(dst []byte) ([]byte, error) {
	return fmt.Appendf(dst, "%d\t%d", t.Amount, t.Orders), nil
}

// writeSums adds up the totals of each region.
func writeSums(g *mr.Graph, totals *mr.Stage[[]byte, total]) {
	sums := mr.Group(g, "sum", mr.Fold[[]byte](total.plus), totals.Shuffle().Combine(mr.Fold[[]byte](total.plus)))
	mr.Write(sums, mr.TextOutput[[]byte, total]())
}

// amountOf returns the amount of an order, whose customer is its key.
func amountOf(order []byte) (int64, error) {
	text, _, _ := bytes.Cut(order, []byte("\t"))
	amount, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("amount of an order: %w", err)
	}
	return amount, nil
}

// lookup looks up the customer of each order.
type lookup struct {
	customers *mr.Side[[]byte, []byte]
	regions   *mr.Lookup[[]byte, []byte]
}

// Setup implements mr.Setup.
func (l *lookup) Setup(t *mr.Task) error {
	l.regions = l.customers.Lookup(t)
	return nil
}

// Ahead implements mr.LooksAhead.
func (l *lookup) Ahead(customer, _ []byte) { l.regions.Ahead(customer) }

// Map implements mr.Mapper.
func (l *lookup) Map(_ *mr.Task, customer, order []byte, out mr.Emitter[[]byte, total]) error {
	region, known := l.regions.Get(customer)
	if !known {
		return nil
	}
	amount, err := amountOf(order)
	if err == nil {
		out.Emit(region, total{amount, 1})
	}
	return err
}

// emitAmount drops the item of an order.
func emitAmount(_ *mr.Task, customer, order []byte, out mr.Emitter[[]byte, int64]) error {
	amount, err := amountOf(order)
	if err == nil {
		out.Emit(customer, amount)
	}
	return err
}

// joinCustomer adds up the orders of one customer, for the customer's region.
func joinCustomer(_ *mr.Task, _ []byte, regions iter.Seq[[]byte], amounts iter.Seq[int64], out mr.Emitter[[]byte, total]) error {
	var region []byte
	for r := range regions {
		region = append(region[:0], r...)
	}
	var sum total
	for amount := range amounts {
		sum = sum.plus(total{amount, 1})
	}
	if region != nil && sum.Orders > 0 {
		out.Emit(region, sum)
	}
	return nil
}
