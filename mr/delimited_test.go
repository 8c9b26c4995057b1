package mr_test

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// sale is a row with a gap between its columns.
type sale struct {
	Shop   string
	Amount int32  `col:"3"`
	Note   []byte // column 4
	Seen   bool   `col:"-"`
}

// salesByShop adds up the amounts of each shop, and writes rows of the same type.
func salesByShop(in mr.DelimitedInput[sale], sep byte) *mr.Job[string, int64, string, int64] {
	return mr.New("sales", in.Separator(sep), mr.MapFunc(func(_ *mr.Task, _ int64, s sale, out countEmitter) error {
		out.Emit(s.Shop, int64(s.Amount))
		return nil
	}), mr.Sum[string, int64](), mr.DelimitedOutput[string, int64]().Separator(sep))
}

func TestDelimited(t *testing.T) {
	in := inputDir(t, "a;x;3;n;more\nb;;-4;\n", "a;;10;\xff\x00\r\n")
	for _, split := range []string{"3", "1000"} {
		out := outputDir(t)
		mrtest.Command(t, salesByShop(mr.Delimited[sale](), ';'), "-D", "mapreduce.input.fileinputformat.split.maxsize="+split, in, out)
		wantFiles(t, out, map[string]string{"part-r-00000": "a;13\nb;-4\n"})
	}
}

// TestBadRows checks the error of each kind of bad row, and that bad rows are skipped and
// counted if the input or a property allows it.
func TestBadRows(t *testing.T) {
	for row, want := range map[string]string{
		"a\tx":               "row of 2 columns: column 3 (Amount) is missing",
		"":                   "row of 1 columns: column 3 (Amount) is missing",
		"a\tx\t1":            "row of 3 columns: column 4 (Note) is missing",
		"a\tx\t1.5\t":        `column 3 (Amount) of a row: "1.5" is not a whole number of 32 bits`,
		"a\tx\t\t":           `column 3 (Amount) of a row: "" is not a whole number of 32 bits`,
		"a\tx\t2147483648\t": `column 3 (Amount) of a row: "2147483648" is beyond a whole number of 32 bits`,
	} {
		in := inputDir(t, "good\t\t1\t\n"+row+"\ngood\t\t2\t\n")
		fails(t, salesByShop(mr.Delimited[sale](), '\t'), mr.ExitFailed, []string{in, outputDir(t)},
			want+"; correct the row, read with SkipBadRows, or set mapreduce.map.skip.maxrecords", "in-0 at byte 9")
		out := outputDir(t)
		mrtest.Command(t, salesByShop(mr.Delimited[sale](), '\t'), "-D", "mapreduce.map.skip.maxrecords=1", in, out)
		wantFiles(t, out, map[string]string{"part-r-00000": "good\t3\n"})
		result := mrtest.RunCase(t, salesByShop(mr.Delimited[sale]().SkipBadRows(), '\t'), mrtest.Case{
			Inputs: []string{"good\t\t1\t\n" + row + "\ngood\t\t2\t\n" + row + "\n"},
		})
		if got := result.Counters["Map-Reduce Framework"]["Map skipped records"]; got != 2 || result.Text() != "good\t3\n" {
			t.Errorf("row %q: %d skipped, output %q", row, got, result.Text())
		}
	}
}

// TestWrongRows checks that types and separators that cannot be rows are reported before the
// job runs, in jobs and in graphs.
func TestWrongRows(t *testing.T) {
	args := []string{inputDir(t, "a\n"), outputDir(t)}
	refused := func(r mr.Runnable, phrase string) {
		t.Helper()
		fails(t, r, mr.ExitFailed, args, phrase, "delimited_test.go:")
	}
	refused(copyRows[struct{ A []int }](), "field A of struct { A []int }: a column of type []int: use a string")
	refused(copyRows[struct{ a int }](), "field a of struct { a int }: not exported")
	refused(copyRows[struct {
		A int `col:"0"`
	}](), `tag col:"0": expected the number of a column, counted from 1, or "-"`)
	refused(copyRows[struct {
		A int
		B int `col:"1"`
	}](), "fields A and B of")
	refused(copyRows[struct {
		A int `col:"-"`
	}](), "no field is a column")
	refused(salesByShop(mr.Delimited[sale](), '7'), "separator '7': use a byte that is no line end")
	refused(mr.Define("copy", none{}, func(g *mr.Graph, _ none) {
		rows := mr.Read(g, "map", mr.Delimited[sale]().Separator('-'), mr.IdentityMapper[int64, sale]())
		mr.Write(rows, mr.DelimitedOutput[int64, sale]().Separator('\n'))
	}), "stage \"map\": input: separator '-'")
}

func copyRows[T any]() mr.Runnable {
	return mr.MapOnly("copy", mr.Delimited[T](), mr.IdentityMapper[int64, T](), mr.DelimitedOutput[int64, T]())
}

// TestTextThatIsNoColumn checks that a text with a separator or a line end is refused.
func TestTextThatIsNoColumn(t *testing.T) {
	for text, want := range map[string]string{
		"tab":     `column 1 (First) of a row: "a\tb" contains the separator '\t'; remove it, or choose another with Separator`,
		"newline": `column 1 (First) of a row: "a\nb" contains a line end; remove it`,
	} {
		job := mr.MapOnly("write", mr.TextStrings(), mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[mr.Pair[string, int64], none]) error {
			out.Emit(mr.Pair[string, int64]{First: strings.NewReplacer("tab", "a\tb", "newline", "a\nb").Replace(line)}, none{})
			return nil
		}), mr.DelimitedOutput[mr.Pair[string, int64], none]())
		fails(t, job, mr.ExitFailed, []string{inputDir(t, text), outputDir(t)}, want)
	}
}
