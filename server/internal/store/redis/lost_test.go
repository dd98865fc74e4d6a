package redis

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/server/internal/store"
)

// lossy is a connection that is closed instead of passing on the reply to the first command with a name.
type lossy struct {
	net.Conn
	command []byte
	lost    *atomic.Bool // shared by all connections
	doomed  bool
	then    func() // called when the reply is lost, if not nil
}

func (c *lossy) Write(b []byte) (int, error) {
	if bytes.Contains(b, c.command) && c.lost.CompareAndSwap(false, true) {
		c.doomed = true
	}
	return c.Conn.Write(b)
}

func (c *lossy) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.doomed {
		if c.then != nil {
			c.then()
		}
		_ = c.Close()
		return 0, io.EOF
	}
	return n, err
}

// losing returns a client that loses the reply to the first command with a name, and whether it has. It calls
// then at that moment, if it is not nil.
func (r *rig) losing(command string, then func()) (_ goredis.UniversalClient, lost *atomic.Bool) {
	lost = new(atomic.Bool)
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &lossy{Conn: c, command: []byte(command), lost: lost, then: then}, err
	}
	client := goredis.NewClient(&goredis.Options{Addr: r.addr, Dialer: dial})
	r.t.Cleanup(func() { assert.NoError(r.t, client.Close()) })
	return client, lost
}

// Ensure that a call says that it took effect if the reply to its command was lost, so that the client sent it
// twice.
func TestLostReply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		ann, err := r.store.Accounts.Create(ctx, store.Account{ID: id.New(), Name: "Ann", Secret: "none"}, 0)
		require.NoError(t, err)
		_, err = r.store.Sessions.Offer(ctx, ann.ID, "link", time.Minute)
		require.NoError(t, err)
		_, err = r.store.Sessions.Open(ctx, "link", store.Session{ID: "session"}, 1, 0)
		require.NoError(t, err)
		unlink := func(c goredis.UniversalClient) (bool, error) {
			_, err := r.store.Keys.Link(ctx, store.Key{Fingerprint: fingerprint, PlayerID: ann.ID}, 0)
			require.NoError(t, err)
			return keys{accounts{c}}.Unlink(ctx, ann.ID, fingerprint)
		}
		for _, tt := range []struct {
			command string
			call    func(c goredis.UniversalClient) (bool, error)
		}{
			{"hsetnx", func(c goredis.UniversalClient) (bool, error) {
				return credentials{c}.Add(ctx, store.Credential{Name: "host", Digest: "digest"})
			}},
			{"hdel", func(c goredis.UniversalClient) (bool, error) { return credentials{c}.Remove(ctx, "host") }},
			{"hdel", func(c goredis.UniversalClient) (bool, error) {
				return sessions{accounts{c}}.End(ctx, ann.ID, "session")
			}},
			{"hdel", unlink},
			{"evalsha", unlink},
		} {
			client, lost := r.losing(tt.command, nil)
			did, err := tt.call(client)
			require.NoError(t, err)
			assert.True(t, did, tt.command)
			assert.True(t, lost.Load(), tt.command)
		}
	})
}

// Ensure that an account that is renamed twice at once does not keep the name that it did not get: neither if the
// reply to the claim of that name was lost, nor if the call began while another one for that name held it.
func TestLostReply_Rename(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		for _, tt := range []struct {
			command           string // whose reply is lost after the other call
			held              bool
			name, got, missed string
		}{{"evalsha", false, "Ann", "Bob", "Cid"}, {"time", true, "Eve", "Kim", "Lee"}} {
			ann, err := r.store.Accounts.Create(ctx, store.Account{ID: id.New(), Name: tt.name, Secret: "none"}, 0)
			require.NoError(t, err)
			key := nameKey(names.Fold(tt.missed))
			if tt.held {
				_, err := accounts{r.client}.claim(ctx, key, ann.ID, permanent)
				require.NoError(t, err)
			}
			other := func() {
				renamed, err := r.store.Accounts.Rename(ctx, ann.ID, tt.name, tt.got, 0)
				require.NoError(t, err)
				assert.Equal(t, tt.got, renamed.Name)
				if tt.held {
					require.NoError(t, r.client.Del(ctx, key).Err())
				}
			}
			client, lost := r.losing(tt.command, other)
			renamed, err := accounts{client}.Rename(ctx, ann.ID, tt.name, tt.missed, 0)
			require.NoError(t, err)
			assert.Equal(t, tt.got, renamed.Name)
			assert.True(t, lost.Load())
			holder, err := r.store.Accounts.Holder(ctx, tt.missed)
			require.NoError(t, err)
			assert.Empty(t, holder, tt.command)
		}
	})
}

// Ensure that a restore succeeds if the reply to a part of it was lost.
func TestLostReply_Restore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		client, lost := r.losing("xadd", nil)
		log := &store.DumpedLog{GameID: name("a")}
		for version := range int32(3) {
			at := time.UnixMilli(int64(version)).UTC()
			entryID := store.ID{Version: version + 1, Digest: 1}
			log.Entries = append(log.Entries, store.Record{ID: entryID, Time: at, Raw: []byte("raw"), Seed: []byte{}})
		}
		require.NoError(t, dumper{client}.Restore(t.Context(), []store.Item{{Log: log}}))
		assert.True(t, lost.Load())
		entries, err := r.store.Games.Entries(t.Context(), name("a"), 1, 10)
		require.NoError(t, err)
		assert.Equal(t, log.Entries, entries)
	})
}
