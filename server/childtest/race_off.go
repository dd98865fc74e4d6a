//go:build !race

package childtest

const race = false
