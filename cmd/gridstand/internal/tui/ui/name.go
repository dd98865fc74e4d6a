package ui

import (
	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/names"
)

// SuggestName returns the name to suggest for a new account of a user with the given login
// name. n is 1 for the first suggestion and increases with each one that was taken.
func SuggestName(login string, n int) string {
	if names.Reserved(client.FitName(login)) {
		n++ // For example, "root-2" is not reserved.
	}
	if n == 1 {
		return client.FitName(login)
	}
	return client.WithNumber(login, n)
}
