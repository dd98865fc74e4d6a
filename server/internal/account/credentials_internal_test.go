package account

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/server/internal/store"
)

// listed is a store.Credentials that only lists one credential, and takes a while for it.
type listed struct {
	store.Credentials
	one   store.Credential
	takes time.Duration
}

func (l *listed) All(context.Context) ([]store.Credential, error) {
	time.Sleep(l.takes) //nolint:forbidigo // The bubble's clock is fake.
	return []store.Credential{l.one}, nil
}

// Ensure that a valid credential that was read recently does not wait for the store while wrong ones are looked up.
func TestCredentials_Wrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		valid, wrong := credentialPrefix+strings.Repeat("a", 26), credentialPrefix+strings.Repeat("b", 26)
		s := &listed{one: store.Credential{Name: "host", Digest: digestOf(valid).String()}}
		c := NewCredentials(s)
		verify := func(credential, name string, want error) {
			t.Helper()
			got, err := c.Verify(t.Context(), credential)
			assert.ErrorIs(t, err, want)
			assert.Equal(t, name, got)
		}
		verify(valid, "host", nil)
		s.takes = credentialsFor / 2
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { verify(wrong, "", ErrBadCredential) })
		}
		synctest.Wait()
		began := time.Now()
		verify(valid, "host", nil)
		assert.Zero(t, time.Since(began))
		group.Wait()
	})
}
