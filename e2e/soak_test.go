//go:build soak

package e2e

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// memoryBound is the limit of a job's memory at default settings, whatever its input, in
// bytes.
const memoryBound = 1 << 30

// soakSize returns a size in MiB from the environment, in bytes.
func soakSize(t *testing.T, name string, mib int64) int64 {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		var err error
		mib, err = strconv.ParseInt(text, 10, 64)
		must.Do(t, err)
	}
	return mib << 20
}

// soakInput writes lines to a new file of at least size bytes. It is removed
// with the test, because the disk has to hold the input three times.
func soakInput(t *testing.T, size int64, line func(dst []byte) []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	f, err := os.Create(name)
	must.Do(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	var buf []byte
	for written := int64(0); written < size; written += int64(len(buf)) {
		buf = append(line(buf[:0]), '\n')
		_, err := w.Write(buf)
		must.Do(t, err)
	}
	must.Do(t, w.Flush())
	must.Do(t, f.Close())
	return name
}

// skews are lines that are hard to sort.
func skews() map[string]func(dst []byte) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 2, 1<<24)
	count, long := 0, make([]byte, 1<<20)
	letters := func(dst []byte) {
		for i := range dst {
			dst[i] = byte(' ' + random.Uint32()%95)
		}
	}
	return map[string]func(dst []byte) []byte{
		"equal": func(dst []byte) []byte { return append(dst, "the same key on every line"...) },
		"zipf":  func(dst []byte) []byte { return fmt.Appendf(dst, "word%d", zipf.Uint64()) },
		"sorted": func(dst []byte) []byte {
			count++
			return fmt.Appendf(dst, "%015d and some text behind the key", count)
		},
		"random": func(dst []byte) []byte {
			dst = append(dst, long[:50]...)
			letters(dst)
			return dst
		},
		"short": func(dst []byte) []byte { return strconv.AppendUint(dst, random.Uint64N(10_000), 10) },
		"1 MB lines": func(dst []byte) []byte {
			letters(long[:100])
			return append(dst, long...)
		},
	}
}

// TestSoakSort sorts SOAK_MIB (default 1024) of lines of each skew at default settings, and
// checks the memory bound and the order.
func TestSoakSort(t *testing.T) {
	size := soakSize(t, "SOAK_MIB", 1024)
	for name, line := range skews() {
		t.Run(name, func(t *testing.T) {
			in, out := soakInput(t, size, line), filepath.Join(t.TempDir(), "out")
			r := start(t, command{args: []string{"run", "sort", "-r", "2", in, out}, limit: time.Hour}).wait(t)
			r.want(t, 0)
			shell(t, `cat "$1"/part-r-0000[01] | sort -c`, out)
			wantSmall(t, r, size)
		})
	}
}

// TestSoakGroup reduces one key with SOAK_GROUP_MIB (default 2048) of values.
func TestSoakGroup(t *testing.T) {
	size := soakSize(t, "SOAK_GROUP_MIB", 2048)
	lines := int64(0)
	in := soakInput(t, size, func(dst []byte) []byte {
		lines++
		return fmt.Appendf(dst, "value %d, which is one of very many that belong to the same key", lines)
	})
	out := filepath.Join(t.TempDir(), "out")
	self, err := os.Executable()
	must.Do(t, err)
	r := start(t, command{program: self, args: []string{in, out}, env: []string{programEnv + "=fails"}, limit: time.Hour}).wait(t)
	r.want(t, 0)
	wantSame(t, parts(t, out, 1), fmt.Appendf(nil, "line\t%d\n", lines))
	wantSmall(t, r, size)
}

func wantSmall(t *testing.T, r result, size int64) {
	t.Helper()
	t.Logf("%d MiB in %.1f s with at most %d MiB of memory", size>>20, r.took.Seconds(), r.maxRSS>>20)
	if r.maxRSS > memoryBound {
		t.Errorf("%d MiB of memory, more than %d", r.maxRSS>>20, int64(memoryBound)>>20)
	}
}
