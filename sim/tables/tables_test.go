package tables

import (
	"io"
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	table := New("policy", "mean|%.1f s", "local|%.0f %%", "late")
	table.Add("fifo", 12.345, 99.6, true)
	table.Add("größer, fair", 2.25, "–", "")
	for want, write := range map[string]func(io.Writer) error{
		"policy,mean,local,late\nfifo,12.3 s,100 %,true\n\"größer, fair\",2.2 s,–,\n":                                              table.CSV,
		"| policy | mean | local | late |\n|---|--:|--:|---|\n| fifo | 12.3 s | 100 % | true |\n| größer, fair | 2.2 s | – |  |\n": table.Markdown,
		"policy        mean    local  late\nfifo          12.3 s  100 %  true\ngrößer, fair  2.2 s   –      \n":                    table.Text,
	} {
		var got strings.Builder
		if err := write(&got); err != nil || got.String() != want {
			t.Errorf("%v, got\n%swant\n%s", err, got.String(), want)
		}
	}
}

func TestTextIsAlignedAsItsFirstColumn(t *testing.T) {
	table := New("NAME|%s", "N|%d")
	table.Add("a long name", 1)
	table.Add("b", 100)
	const want = "         NAME    N\n  a long name    1\n            b  100\n"
	var got strings.Builder
	if err := table.Text(&got); err != nil || got.String() != want {
		t.Errorf("%v, got\n%swant\n%s", err, got.String(), want)
	}
}

func TestRowsOfAnotherLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a row of one value is taken for two columns")
		}
	}()
	New("a", "b").Add(1)
}
