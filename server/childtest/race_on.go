//go:build race

package childtest

const race = true
