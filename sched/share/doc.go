// Package share divides slots among parties that claim them.
//
// Fill is weighted max-min fairness with guarantees. A level rises, and each claim gets its
// weight times the level, but at least its minimum and at most its demand, until the
// capacity is used up:
//
//	      capacity 40        ░ demand that is not met
//	░
//	░
//	░   ░                    The level stops at 13: the claims of 100 and 50
//	█   █  ▁ 13              are limited to it; those of 11 and 3 get all
//	█   █   █                they want.
//	█   █   █   █
//	100  50  11  3
//
// Apportion rounds such shares to whole slots. CompareDominant orders parties that
// claim several resources at once.
package share
