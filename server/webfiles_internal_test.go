package server

import (
	"context"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/front"
)

// Ensure that a page's files do not wait until other calls of their address have ended.
func TestStart_WebFiles(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.Store, c.Listen = Memory, "127.0.0.1:0"
	s, err := Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Wait()) })
	budget := s.node.front.Budgets.Of("127.0.0.1")
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		_, err := budget.Enter(t.Context(), front.Reading)
		require.NoError(t, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = budget.Enter(ended, front.Reading)
	require.ErrorIs(t, err, context.Canceled, "another call would wait")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr().String()+"/assets/any/main.js", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)
}
