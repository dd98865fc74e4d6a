// Package sitetest contains only tests. They test the page's JavaScript with Node: the rules with test
// vectors in docs/verify.md and the playthroughs, and the verifier and the wording by comparison with the
// Go programs.
package sitetest
