package limits_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that each limit has a row, that its default is valid, and that its flag and its name in
// the contract are unique.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range limits.Table {
		keys := []string{row.Field}
		if row.Flag != "" {
			assert.True(t, strings.HasPrefix(row.Flag, "max-"), row.Flag)
			keys = append(keys, row.Flag)
		}
		for _, key := range keys {
			assert.False(t, seen[key], "%s: %s is in two rows", row.Field, key)
			seen[key] = true
		}
		assert.Positive(t, row.Default, row.Field)
		require.NoError(t, limits.Check(row.Default), row.Flag)
	}
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
	for i, row := range limits.Table {
		l[i] = 7
		err := l.Exceeded(limits.Name(i), "of something", 0)
		assert.Equal(t, map[string]string{"limit": "7", "limit_name": row.Field}, err.Metadata())
		assert.Equal(t, "at most 7 of something", err.Error())
		assert.Positive(t, err.Retry, "no retry hint")
	}
}
