package client_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
)

// FuzzStore reads arbitrary files as credentials. The store must either reject the file
// and leave it unchanged, or add a credential and keep the others.
func FuzzStore(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "[]", `{"servers":null}`, `{"servers":{"localhost:2048":{"name":"ada","token":"a.b"}}}`,
		`{"servers":{"a:1":{"kept":{"kept":{"name":"\u001b[2J"}}}}}`, `{"servers":{"a:1":7}}`, "{\"servers\":{}}{}", `{"servers":{"a:1":`,
	} {
		f.Add([]byte(seed), "a:1")
	}
	f.Fuzz(func(t *testing.T, file []byte, target string) {
		path := filepath.Join(t.TempDir(), "credentials.json")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		store := client.NewStore(path)
		before, had, err := store.Load(target)
		if err != nil {
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, store.Save(target, client.Credential{Name: "new"}), path)
			stands, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, file, stands)
			return
		}
		require.NoError(t, store.Save("another.example:2048", client.Credential{Name: "new"}))
		if target == "another.example:2048" {
			return
		}
		after, has, err := store.Load(target)
		require.NoError(t, err)
		assert.Equal(t, had, has)
		assert.Equal(t, before, after)
	})
}

// FuzzTarget normalizes arbitrary targets. Normalization must be idempotent.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"", "localhost", "A:1,b", "dns:///Name", "[::1]:2048", "::1", "FE80::1%A", "a:b:c", "x@y", "a,,b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		normal, err := client.NormalTarget(s)
		if err != nil {
			return
		}
		again, err := client.NormalTarget(normal)
		require.NoError(t, err)
		assert.Equal(t, normal, again)
	})
}
