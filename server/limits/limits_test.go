package limits_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that each field of Limits has exactly one row, that its default is valid, and
// that its flag and its name in the contract are unique.
func TestTable(t *testing.T) {
	t.Parallel()
	var l limits.Limits
	seen := map[any]bool{}
	for _, row := range limits.Table {
		keys := []any{row.Field, row.Of(&l)}
		if row.Flag != "" {
			assert.True(t, strings.HasPrefix(row.Flag, "max-"), row.Flag)
			keys = append(keys, row.Flag)
		}
		for _, key := range keys {
			assert.False(t, seen[key], "%s: %v is in two rows", row.Field, key)
			seen[key] = true
		}
		assert.Positive(t, row.Default, row.Field)
		require.NoError(t, limits.Check(row.Default), row.Flag)
	}
	assert.Len(t, limits.Table, reflect.TypeFor[limits.Limits]().NumField(), "a field without a row")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, value := range []int{0, 1, math.MaxInt32} {
		assert.NoError(t, limits.Check(value))
	}
	for _, value := range []int{-1, math.MaxInt32 + 1} {
		assert.ErrorContains(t, limits.Check(value), "must be from 0")
	}
}

// Ensure that an error identifies the limit by its name in the contract.
func TestLimits_Exceeded(t *testing.T) {
	t.Parallel()
	l := limits.Default()
	for _, row := range limits.Table {
		*row.Of(&l) = 7
		err := l.Exceeded(row.Of(&l), "of something", 0)
		assert.Equal(t, map[string]string{"limit": "7", "limit_name": row.Field}, err.Metadata())
		assert.Equal(t, "at most 7 of something", err.Error())
		assert.Positive(t, err.Retry, "no retry hint")
	}
}
