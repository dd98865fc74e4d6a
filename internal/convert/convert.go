// Package convert makes lists from other lists.
package convert

import "slices"

// All returns the result of a function for each element, or nil if there are no elements.
func All[T, R any](all []T, of func(T) R) []R {
	results := slices.Grow([]R(nil), len(all))
	for _, one := range all {
		results = append(results, of(one))
	}
	return results
}
