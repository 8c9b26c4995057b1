package randomtextwriter

import "math/rand/v2"

// vocabulary is a thousand different words that can be spoken.
var vocabulary = func() (words [1000]string) {
	for i := range words {
		// 7919 has no factor in common with 10,000, so no two words begin with
		// the same two syllables.
		n := i * 7919 % 10_000
		words[i] = syllable(n/100) + syllable(n%100)
		for j := range i % 3 {
			words[i] += syllable((i + 37*j) % 100)
		}
	}
	return words
}()

// syllable is the nth of a hundred.
func syllable(n int) string {
	const consonants, vowels = "bcdfghjklmnprstvwxyz", "aeiou"
	return consonants[n/5:n/5+1] + vowels[n%5:n%5+1]
}

// appendSentence appends n random words with spaces between them.
func appendSentence(dst []byte, random *rand.Rand, n int) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, vocabulary[random.IntN(len(vocabulary))]...)
	}
	return dst
}
