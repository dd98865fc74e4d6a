//go:build slow

package storetest

// models is how many random sequences of calls are compared with a model, each with a
// seed of its own.
const models = 30
