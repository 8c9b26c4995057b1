package rpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// Asked is what AskAll asks: a client of one master.
type Asked interface {
	Info(ctx context.Context) (*wire.Info, error)
	Close() error
}

// Answer is what a master has answered about itself.
type Answer struct {
	Info *wire.Info // nil after an error
	Err  error
}

// AskAll asks the masters at addresses at the same time, so that several that hang cost only one limit.
// The answers are in the order of the addresses. connect connects to one master alone, without a search
// for the leader.
func AskAll[C Asked](ctx context.Context, addresses []string, limit time.Duration, connect func(address string) (C, error)) []Answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answers := make([]Answer, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() { answers[i] = ask(ctx, address, connect) })
	}
	all.Wait()
	return answers
}

func ask[C Asked](ctx context.Context, address string, connect func(address string) (C, error)) Answer {
	c, err := connect(address)
	if err != nil {
		return Answer{Err: err}
	}
	info, err := c.Info(ctx)
	if err = errors.Join(err, c.Close()); err != nil {
		return Answer{Err: err}
	}
	return Answer{Info: info}
}

// ToOne returns the configuration of a client that asks one master of the cluster, for at most limit.
func (c Config) ToOne(address string, limit time.Duration) Config {
	c.Masters, c.Only, c.Timeout = []string{address}, true, limit
	return c
}

// Addresses returns the addresses of the masters of a cluster.
func Addresses(info *wire.Info) []string {
	addresses := make([]string, len(info.GetMasters()))
	for i, m := range info.GetMasters() {
		addresses[i] = m.Address
	}
	return addresses
}

// Infos returns the answers without their errors.
func Infos(answers []Answer) []*wire.Info {
	infos := make([]*wire.Info, len(answers))
	for i, a := range answers {
		infos[i] = a.Info
	}
	return infos
}
