package splits

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

func TestFilesAreCutForTheSlots(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		opts  Options
		want  string
	}{
		{[]int{1000}, Options{Slots: 1}, "0[0+250) 0[250+250) 0[500+250) 0[750+250)"},
		{[]int{1000}, Options{}, "0[0+1000)"},
		{[]int{1000}, Options{Slots: 1, MinShare: 300}, "0[0+250) 0[250+250) 0[500+250) 0[750+250)"}, // 300 would leave 100
		{[]int{1000}, Options{Slots: 1, MinShare: 600}, "0[0+500) 0[500+500)"},
		{[]int{1520}, Options{Slots: 1}, "0[0+334) 0[334+334) 0[668+332) 0[1000+334) 0[1334+186)"},
		{[]int{9000}, Options{Slots: 2, MaxSize: 2000}, "0[0+1000) 0[1000+1000) 0[2000+1000) 0[3000+1000) 0[4000+1000) 0[5000+1000) 0[6000+1000) 0[7000+1000) 0[8000+1000)"},
		{[]int{1000}, Options{Slots: 1, MaxSize: 400, MinSize: 300}, "0[0+334) 0[334+334) 0[668+332)"},
		{[]int{1000}, Options{Slots: 1, MaxSize: 70, MinSize: 400}, "0[0+400) 0[400+400) 0[800+200)"},
		{[]int{1000}, Options{Slots: 1, MaxSize: 200}, "0[0+200) 0[200+200) 0[400+200) 0[600+200) 0[800+200)"},
		{[]int{470, 470}, Options{Slots: 1, Combine: true}, "0[0+200) 0[200+200) 0[400+70) 1[0+200) 1[200+200) 1[400+70)"},
		{[]int{100, 100, 100, 500}, Options{Slots: 1, Combine: true}, "0[0+100)+1[0+100) 2[0+100) 3[0+200) 3[200+200) 3[400+100)"},
		{[]int{0}, Options{Slots: 1}, "0[0+0)"},
	} {
		w := newWorld()
		for i, size := range c.sizes {
			w.put(t, fmt.Sprintf("/%d", i), make([]byte, size), 0)
		}
		if c.opts.MinShare == 0 {
			c.opts.MinShare = 1
		}
		if got := row(w.cut(t, c.opts)); got != c.want {
			t.Errorf("%v, %+v:\n%s, want\n%s", c.sizes, c.opts, got, c.want)
		}
	}
}

// row is picture in one line.
func row(splits []*taskproc.Split) string {
	var out string
	for i, s := range splits {
		if i > 0 {
			out += " "
		}
		for j, p := range s.Parts {
			if j > 0 {
				out += "+"
			}
			out += fmt.Sprintf("%s[%d+%d)", p.Path[len("mem://test/"):], p.Start, p.Length)
		}
	}
	return out
}

// TestSizeRule checks, for random files and options, that the splits cover each byte once and
// in order, that none is longer than allowed, that no split crosses a block because of Slots,
// and that there are enough splits for all slots.
func TestSizeRule(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 500 {
		w := newWorld()
		for i := range 1 + r.IntN(5) {
			w.put(t, fmt.Sprintf("/%d", i), make([]byte, r.IntN(6000)*r.IntN(2)+r.IntN(300)), 0)
		}
		opts := Options{Slots: 1 + r.IntN(8), MinShare: 1 + int64(r.IntN(400)), Combine: r.IntN(2) == 0}
		if r.IntN(3) == 0 {
			opts.MaxSize = 1 + int64(r.IntN(1500))
		}
		if r.IntN(3) == 0 {
			opts.MinSize = 1 + int64(r.IntN(1500))
		}
		splits := w.cut(t, opts)
		t.Run("", func(t *testing.T) { checkSizes(t, w, opts, splits) })
		if t.Failed() {
			t.Fatalf("%+v: %s", opts, row(splits))
		}
	}
}

func checkSizes(t *testing.T, w *world, opts Options, splits []*taskproc.Split) {
	longest := int64(1000)
	if opts.MaxSize > 0 {
		longest = min(longest, opts.MaxSize)
	}
	longest = max(longest, opts.MinSize)
	file, at := -1, int64(0)
	for _, s := range splits {
		var length int64
		for _, p := range s.Parts {
			if p.Start == 0 {
				file, at = file+1, 0
			}
			if p.Path != w.files[file].name() || p.Start != at {
				t.Fatalf("part %s[%d+%d), want file %d at %d", p.Path, p.Start, p.Length, file, at)
			}
			at += p.Length
			length += p.Length
		}
		if float64(length) > slop*float64(longest) {
			t.Errorf("split of %d bytes, longer than %d", length, longest)
		}
		if p := s.Parts[0]; opts.MinSize <= 1 && opts.MaxSize <= 0 && p.Start/1000 != (p.Start+length-1)/1000 && at != p.FileSize {
			t.Errorf("split of bytes [%d+%d) crosses a block", p.Start, length)
		}
	}
	total := TotalSize(w.files)
	if file != len(w.files)-1 || at != w.files[file].Info.Size {
		t.Errorf("the splits end in file %d at %d", file, at)
	}
	// A piece may be 1.1 times as long as the share. With MinSize it may be almost twice as long
	// as that, where one more piece of a block would be shorter than MinSize.
	wanted := min(int64(opts.Slots*tasksPerSlot), total/max(opts.MinShare, 2*opts.MinSize, 1))
	if float64(len(splits))*slop < float64(wanted) {
		t.Errorf("%d splits for %d bytes, want %d", len(splits), total, wanted)
	}
}
