package poison

import "testing"

// TestLent checks which bytes are valid when.
func TestLent(t *testing.T) {
	record := []byte("one")
	l := New(true)
	first := l.Lend(record)
	copy(record, "two")
	if string(first) != "one" {
		t.Errorf("lent %q, want a copy", first)
	}
	second := l.Lend(record)
	if string(first) != "\xDB\xDB\xDB" || string(second) != "two" {
		t.Errorf("after the second record: %q and %q", first, second)
	}
	l.End()
	if string(second) != "\xDB\xDB\xDB" || string(record) != "two" {
		t.Errorf("after the end: %q, record %q", second, record)
	}
	if l.Lend(nil) != nil {
		t.Error("a nil slice was lent as another")
	}
}

// TestOff checks that a nil Lender copies nothing.
func TestOff(t *testing.T) {
	l, record := New(false), []byte("one")
	lent := l.Lend(record)
	l.End()
	if &lent[0] != &record[0] || string(record) != "one" {
		t.Errorf("lent %q of %q", lent, record)
	}
}
