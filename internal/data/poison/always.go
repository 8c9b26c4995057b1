//go:build poison

package poison

// Always is true in a build with the tag poison: every job runs with hammr.debug.poison.
const Always = true
