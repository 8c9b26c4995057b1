package mr_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// fields is a value whose codec decodes views of the encoded bytes. Its fields are not exported,
// so encoding/json would lose them.
type fields struct{ parts [][]byte }

// fieldsCodec separates the parts by zeros.
type fieldsCodec struct{}

func (fieldsCodec) Append(dst []byte, v fields) []byte {
	return append(dst, bytes.Join(v.parts, []byte{0})...)
}

func (fieldsCodec) Decode(src []byte) (fields, error) {
	return fields{bytes.Split(src, []byte{0})}, nil
}

// largeGroup is the number of values of the one key of TestReducersKeepWhatTheyReturn. Their
// 300 kB cross several blocks of the merge.
const largeGroup = 3000

// lentValue returns the bytes of value i.
func lentValue(i int64) []byte { return fmt.Appendf(nil, "%06d-%090d", i, i) }

// keeping runs a job that emits largeGroup values of one key from several maps, and returns what
// the reducer has emitted for it.
func keeping[V any](t *testing.T, make func(i int64) V, codec mr.Codec[V], reducer mr.Reducer[string, V, string, V], text func(V) string) string {
	t.Helper()
	n := int64(0)
	mapper := mr.MapFunc(func(_ *mr.Task, offset int64, _ []byte, out mr.Emitter[string, V]) error {
		for i := range int64(largeGroup / 3) {
			out.Emit("k", make(n+i))
		}
		n += largeGroup / 3
		return nil
	})
	var got string
	out := mr.FuncOutput(func(_ *mr.Task, _ string, v V) error {
		got += text(v)
		return nil
	})
	job := mr.New("keeping", mr.TextLines(), mapper, reducer, out)
	if codec != nil {
		job.ValueCodec(codec)
	}
	program := mrtest.Exec(t, job, "--workers=1", "-Dhammr.input.combine=false", inputDir(t, "a\n", "b\n", "c\n"), outputDir(t))
	if program.Code != mr.ExitDone {
		t.Fatal(errors.New(program.Stderr))
	}
	return got
}

// TestReducersKeepWhatTheyReturn reduces a group that is larger than a block of the merge, from
// several runs. The bytes of its values are valid only until the next value, but reducers of the
// package keep some of them to the end of the group.
func TestReducersKeepWhatTheyReturn(t *testing.T) {
	pair := func(i int64) mr.Pair[int64, []byte] { return mr.Pair[int64, []byte]{First: i, Second: lentValue(i)} }
	pairText := func(p mr.Pair[int64, []byte]) string { return fmt.Sprintf("%d %s", p.First, p.Second) }
	newest := func(acc, v mr.Pair[int64, []byte]) mr.Pair[int64, []byte] {
		if v.First%7 == 3 && v.First < 2000 && v.First > acc.First {
			return v
		}
		return acc
	}
	triple := func(i int64) mr.Triple[[]byte, int64, []byte] {
		return mr.Triple[[]byte, int64, []byte]{First: lentValue(i), Second: i, Third: lentValue(-i - 1)}
	}
	swapped := func(acc, v mr.Triple[[]byte, int64, []byte]) mr.Triple[[]byte, int64, []byte] {
		acc.First, acc.Third = acc.Third, acc.First
		return acc
	}
	parts := func(i int64) fields { return fields{[][]byte{lentValue(i), []byte("end")}} }
	partsText := func(f fields) string { return fmt.Sprintf("%s", f.parts) }
	byFirst := func(a, b mr.Pair[int64, []byte]) int { return int(a.First - b.First) }
	const last = largeGroup - 1
	for name, tt := range map[string]struct{ got, want string }{
		"first of pairs": {keeping(t, pair, nil, mr.First[string, mr.Pair[int64, []byte]](), pairText), pairText(pair(0))},
		"newest pair":    {keeping(t, pair, nil, mr.Fold[string](newest), pairText), pairText(pair(1998))},
		"triple": {keeping(t, triple, nil, mr.Fold[string](swapped), func(v mr.Triple[[]byte, int64, []byte]) string {
			return fmt.Sprintf("%s %d %s", v.First, v.Second, v.Third)
		}), fmt.Sprintf("%s 0 %s", lentValue(-1), lentValue(0))},
		"a codec that returns views": {keeping(t, parts, mr.Codec[fields](fieldsCodec{}), mr.First[string, fields](), partsText), partsText(parts(0))},
		"top of pairs":               {keeping(t, pair, nil, mr.Top[string](1, byFirst), pairText), pairText(pair(0))},
		"top of views":               {keeping(t, parts, mr.Codec[fields](fieldsCodec{}), mr.Top[string](1, func(fields, fields) int { return 0 }), partsText), partsText(parts(0))},
		"last value":                 {keeping(t, pair, nil, mr.Fold[string](func(_, v mr.Pair[int64, []byte]) mr.Pair[int64, []byte] { return v }), pairText), pairText(pair(last))},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %.120q, want %.120q", name, tt.got, tt.want)
		}
	}
}
