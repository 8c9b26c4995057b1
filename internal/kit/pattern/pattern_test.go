package pattern

import "testing"

func TestNew(t *testing.T) {
	number := New(`^\d+$`)
	if first := number(); number() != first {
		t.Error("the expression is compiled twice")
	}
	if !number().MatchString("12") || number().MatchString("a") {
		t.Error("the expression is another one")
	}
	malformed := New(`(`) // no panic yet
	defer func() {
		if recover() == nil {
			t.Error("a malformed expression is compiled")
		}
	}()
	malformed()
}
