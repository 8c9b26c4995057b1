package lossless

import (
	"encoding/json"
	"reflect"
	"testing"
)

// BenchmarkJSON encodes a value, without and with the check of this package.
func BenchmarkJSON(b *testing.B) {
	type visit struct {
		Page  string
		Times []int
		At    map[string]float64
	}
	plain := visit{"a page of the site", []int{1, 2, 3}, map[string]float64{"x": 0.5}}
	benchJSON(b, "plain", plain)
	benchJSON(b, "any", struct {
		Name  string
		Extra any
	}{"a", map[string]any{"x": 0.5, "y": "z"}})
}

func benchJSON[T any](b *testing.B, name string, v T) {
	for _, checked := range []bool{false, true} {
		b.Run(name+map[bool]string{false: "/unchecked", true: "/checked"}[checked], func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				v := v
				encoded, err := json.Marshal(&v)
				if err == nil && checked {
					j, _ := JSONOf(reflect.TypeFor[T]())
					err = j.Check(reflect.ValueOf(&v).Elem(), encoded)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
