// Package share divides slots among those who claim them.
//
// Fill is weighted max-min fairness with guarantees: a level rises, and each
// claim holds as much of the capacity as its weight times the level, but at least
// its minimum and at most its demand, until the capacity is used up:
//
//	       capacity 40        ░ demand that is not met
//	 ░
//	 ░
//	 ░   ░                    The level stands at 13: the claims of 100 and 50
//	 █   █  ▁ 13              are cut there, those of 11 and 3 have all that
//	 █   █   █                they want.
//	 █   █   █   █
//	100  50  11  3
//
// Apportion makes whole slots of such shares. CompareDominant is the order of
// those who claim several resources at once.
package share
