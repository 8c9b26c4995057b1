package rpc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// asked is a master at an address: one that hangs, one that cannot be closed, or one that answers.
type asked string

func (a asked) Info(ctx context.Context) (*wire.Info, error) {
	if a == "hangs" || a == "hangs too" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &wire.Info{AnsweredBy: string(a)}, nil
}

func (a asked) Close() error {
	if a == "breaks" {
		return errors.New("broken")
	}
	return nil
}

// TestAskAll asks masters of which two hang, which costs one limit.
func TestAskAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		addresses := []string{"m1", "hangs", "refuses", "breaks", "hangs too", "m2"}
		answers := AskAll(t.Context(), addresses, time.Second, func(address string) (asked, error) {
			if address == "refuses" {
				return "", errors.New("refused")
			}
			return asked(address), nil
		})
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v", took)
		}
		for i, want := range []string{"m1", "", "", "", "", "m2"} {
			a := answers[i]
			if a.Info.GetAnsweredBy() != want || (a.Err != nil) != (want == "") || (a.Info == nil) != (want == "") {
				t.Errorf("%s: %+v", addresses[i], a)
			}
		}
		if infos := Infos(answers); len(infos) != len(addresses) || infos[5].AnsweredBy != "m2" || infos[1] != nil {
			t.Errorf("infos are %v", infos)
		}
	})
}
