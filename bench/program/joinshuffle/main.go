// Command joinshuffle does what joinbroadcast does, and shuffles both inputs by customer:
//
//	joinshuffle customers orders out
//
// It needs no memory for all customers.
package main

import (
	"bytes"
	"fmt"
	"iter"
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

var job = mr.Define("joinshuffle", struct{}{}, func(g *mr.Graph, _ struct{}) {
	customers := mr.Read(g, "customers", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]())
	orders := mr.Read(g, "orders", mr.KeyValueText(), mr.MapFunc(amountOf))
	joined := mr.CoGroup(g, "join", mr.CoReduceFunc(join), customers.Shuffle(), orders.Shuffle())
	sums := mr.Group(g, "sum", mr.Fold[[]byte](total.plus), joined.Shuffle().Combine(mr.Fold[[]byte](total.plus)))
	mr.Write(sums, mr.TextOutput[[]byte, total]())
})

// amountOf drops the item of an order.
func amountOf(_ *mr.Task, customer, order []byte, out mr.Emitter[[]byte, int64]) error {
	text, _, _ := bytes.Cut(order, []byte("\t"))
	amount, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("amount of an order: %w", err)
	}
	out.Emit(customer, amount)
	return nil
}

// join adds up the orders of one customer, for the customer's region.
func join(_ *mr.Task, _ []byte, regions iter.Seq[[]byte], amounts iter.Seq[int64], out mr.Emitter[[]byte, total]) error {
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

func main() { mr.Main(job) }
