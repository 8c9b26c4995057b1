package teragen

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestRows compares rows with the rows that Hadoop 3.4 writes.
func TestRows(t *testing.T) {
	for n, want := range map[int64]string{
		0: "4a696d4772617952495000113030303030303030303030303030303030303030303030303030303030303030" +
			"8899aabb323232323030303032323232303030303232323230303030323232323030303032323232303030303030303031313131ccddeeff",
		1: "95e0e48262b3edfe044700113030303030303030303030303030303030303030303030303030303030303031" +
			"8899aabb393939393434343438383838353535354343434337373737353535353535353542424242363636363434343436363636ccddeeff",
	} {
		if got := hex.EncodeToString(new(rows).at(n)); got != want {
			t.Errorf("row %d:\n got %s\nwant %s", n, got, want)
		}
	}
}

// TestRandomAt compares the generator with its formula in arbitrary precision.
func TestRandomAt(t *testing.T) {
	modulus := new(big.Int).Lsh(big.NewInt(1), 128)
	x := new(big.Int)
	for n := range uint64(1000) {
		if got := bigOf(randomAt(n)); got.Cmp(x) != 0 {
			t.Fatalf("number %d is %x, want %x", n, got, x)
		}
		x.Mul(x, bigOf(generator.a)).Add(x, bigOf(generator.c)).Mod(x, modulus)
	}
}

func bigOf(x uint128) *big.Int {
	n := new(big.Int).SetUint64(x.hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(x.lo))
}

// TestRowsFromAnywhere checks that a row is the same whether rows makes the rows before it
// or jumps to it.
func TestRowsFromAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, maxRows-10).Draw(t, "start")
		var steps rows
		for n := start; n < start+10; n++ {
			stepped, direct := steps.at(n), new(rows).at(n)
			if string(stepped) != string(direct) {
				t.Fatalf("row %d:\n stepped %x\n direct  %x", n, stepped, direct)
			}
			if want := fmt.Sprintf("%032X", n); string(direct[12:44]) != want {
				t.Fatalf("row %d has the number %s", n, direct[12:44])
			}
		}
	})
}

func TestRowsDoNotAllocate(t *testing.T) {
	var r rows
	if n := testing.AllocsPerRun(100, func() { r.at(r.next) }); n > 0 {
		t.Errorf("%v allocations a row, want none", n)
	}
}

// TestTeragenOnAnyNumberOfMaps checks that any number of maps writes the same rows, evenly
// divided.
func TestTeragenOnAnyNumberOfMaps(t *testing.T) {
	var r rows
	var want strings.Builder
	for n := range int64(1000) {
		want.Write(r.at(n))
	}
	for _, maps := range []int{1, 2, 3, 7} {
		out := t.TempDir() + "/out"
		got := mrtest.Command(t, Program(), "-D", fmt.Sprint("mapreduce.job.maps=", maps), "1k", out)
		if got != want.String() {
			t.Errorf("%d maps: the rows differ", maps)
		}
		parts := mrtest.Parts(t, out)
		if len(parts) != maps || len(parts[0])-len(parts[maps-1]) > RowSize {
			t.Errorf("%d maps: %d parts, the first of %d bytes and the last of %d", maps, len(parts), len(parts[0]), len(parts[len(parts)-1]))
		}
	}
}

// TestTeragenCountsChecksum compares the checksum with the checksum that Hadoop's
// teravalidate prints.
func TestTeragenCountsChecksum(t *testing.T) {
	got := mrtest.RunCase(t, Job, mrtest.Case{Set: map[string]string{rowsProperty: "1000"}})
	if sum := got.Counters["org.apache.hadoop.examples.terasort.TeraGen$Counters"]["CHECKSUM"]; sum != 0x1f9ffe645ec {
		t.Errorf("checksum %x, want 1f9ffe645ec", sum)
	}
}

func TestParseRows(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "7": 7, "10k": 1e4, "1m": 1e6, "2b": 2e9, "3t": 3e12,
		"-1": -1, "": -1, "k": -1, "1x": -1, "1.5m": -1, "92233720368547759": -1, "92234t": -1,
	} {
		got, err := parseRows(text)
		if want < 0 && err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
		if want >= 0 && (err != nil || got != want) {
			t.Errorf("%q is read as %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestTeragenRefuses(t *testing.T) {
	extest.Refused(t, Program(), "")
	extest.Refused(t, Program(), "", "10")
	extest.Refused(t, Program(), "", "10", "out", "more")
	extest.Refused(t, Program(), `"many" is not a number of rows`, "many", "out")
}
