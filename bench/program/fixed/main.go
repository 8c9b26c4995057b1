// Command fixed is a loop of fixed work, without any code of Hammr: it sorts numbers and counts them in a
// map, one goroutine. What a program takes is compared with it, so that figures of machines of different
// speed can be compared.
package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

func main() {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]uint64, 1<<21)
	counts := make(map[uint64]int)
	for range 3 {
		for i := range numbers {
			numbers[i] = random.Uint64() >> 44 // one million different ones: more than the caches hold
		}
		for _, n := range numbers {
			counts[n]++
		}
		slices.Sort(numbers)
	}
	fmt.Println(numbers[0], len(counts))
}
