package protocol

import "testing"

func TestCommonVersionIsTheNewestOfBoth(t *testing.T) {
	for _, c := range []struct {
		a, b Versions
		want int // 0 for none
	}{
		{Versions{1, 1}, Versions{1, 1}, 1},
		{Versions{1, 2}, Versions{1, 1}, 1},
		{Versions{1, 2}, Versions{2, 3}, 2},
		{Versions{1, 3}, Versions{2, 2}, 2},
		{Versions{1, 2}, Versions{3, 4}, 0},
		{Versions{2, 3}, Versions{1, 1}, 0},
	} {
		for _, pair := range [][2]Versions{{c.a, c.b}, {c.b, c.a}} {
			got, ok := pair[0].Common(pair[1])
			if ok != (c.want != 0) || ok && got != c.want {
				t.Errorf("%v and %v have %d, %v; want %d", pair[0], pair[1], got, ok, c.want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"2", "1 to 2", "2 to 1", "0", "", "to", "1 to ", "-1", "1 to 2 to 3", "99999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(v.String()); err != nil || again != v || !v.Accepts(v.Newest) || v.Oldest < 1 {
			t.Errorf("%q is %+v, printed and read again %+v, %v", text, v, again, err)
		}
	})
}

func TestRangesArePrintedAsTheyAreRead(t *testing.T) {
	for text, want := range map[string]Versions{"2": {2, 2}, "1 to 2": {1, 2}} {
		if got, err := Parse(text); err != nil || got != want || got.String() != text {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "2 to 1", "1 to", "x", "1 to 2 to 3"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
