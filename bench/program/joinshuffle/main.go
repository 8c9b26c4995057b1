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
	joined := mr.Group(g, "join", mr.ReduceFunc(join), customers.Shuffle(), orders.Shuffle())
	sums := mr.Group(g, "sum", mr.Fold[string](total.plus), joined.Shuffle().Combine(mr.Fold[string](total.plus)))
	mr.Write(sums, mr.TextOutput[string, total]())
})

// amountOf drops the item of an order.
func amountOf(_ *mr.Task, customer, order []byte, out mr.Emitter[[]byte, []byte]) error {
	amount, _, _ := bytes.Cut(order, []byte("\t"))
	out.Emit(customer, amount)
	return nil
}

// join adds up the orders of one customer. The region comes before all orders, since values of
// the first channel do; only a region begins with a letter.
func join(_ *mr.Task, _ []byte, values iter.Seq[[]byte], out mr.Emitter[string, total]) error {
	region := ""
	var sum total
	for value := range values {
		if len(value) > 0 && value[0] >= 'a' {
			region = string(value)
			continue
		}
		amount, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return fmt.Errorf("amount of an order: %w", err)
		}
		sum = sum.plus(total{amount, 1})
	}
	if region != "" && sum.Orders > 0 {
		out.Emit(region, sum)
	}
	return nil
}

func main() { mr.Main(job) }
