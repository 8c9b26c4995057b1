package mrgob_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/mr/mrgob"
)

type message struct {
	Name   string
	Counts map[string]int
}

func TestCodec(t *testing.T) {
	c := mrgob.Codec[message]()
	want := message{"n", map[string]int{"a": 1}}
	b := c.Append([]byte("x"), want)
	if b[0] != 'x' {
		t.Error("the codec overwrites what stands before")
	}
	if got, err := c.Decode(b[1:]); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range [][]byte{[]byte("{{"), append(b[1:], 0), nil} {
		if _, err := c.Decode(bad); !errors.Is(err, keys.ErrMalformed) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if !keys.Detached(c) {
		t.Error("decoded values are copied for no reason")
	}
}

// TestTypesThatGobWouldChange checks that the codec asks package lossless, both for the type and for values.
func TestTypesThatGobWouldChange(t *testing.T) {
	if err := keys.CheckType(mrgob.Codec[struct{ sum int }]()); err == nil || !strings.Contains(err.Error(), "gob drops it") {
		t.Errorf("a field that is not exported: %v", err)
	}
	defer func() {
		if e, ok := recover().(*keys.EncodeError); !ok || e.Codec != "gob" {
			t.Errorf("an empty slice: %v, want an EncodeError", e)
		}
	}()
	mrgob.Codec[[]int]().Append(nil, []int{})
}

func FuzzDecode(f *testing.F) {
	c := mrgob.Codec[message]()
	f.Add(c.Append(nil, message{"n", map[string]int{"a": 1}}))
	f.Fuzz(func(_ *testing.T, src []byte) { _, _ = c.Decode(src) })
}
