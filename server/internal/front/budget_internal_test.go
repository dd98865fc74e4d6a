package front

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// pages is a store of endless games.
type pages struct{ store.Games }

func (pages) Entries(_ context.Context, _ string, _ int32, n int) ([]store.Record, error) {
	return make([]store.Record, n), nil
}

// Ensure that the history that an address reads counts as its reads, that a read waits until the
// address has paid for what it read before, and that it is refused if that takes too long.
func TestHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets := NewBudgets(&limits.Limits{limits.ReadsPerAddressPerSecond: 10}, nil)
		games := History(pages{})
		read := func(ctx context.Context, events int) (waited time.Duration, err error) {
			began := time.Now()
			_, err = games.Entries(ctx, "a", 1, events)
			return time.Since(began), err
		}
		client := budgets.Of(clientAddress).Context(t.Context())
		for range Burst + 1 { // The last one is on credit.
			waited, err := read(client, 10*EventsPerRead)
			require.NoError(t, err)
			assert.Zero(t, waited)
		}
		require.Error(t, budgets.Of(clientAddress).Check(1), "other reads of the address count, too")
		waited, err := read(client, 20*EventsPerRead)
		require.NoError(t, err)
		assert.Equal(t, time.Second, waited.Round(time.Millisecond))
		_, err = read(client, 10*EventsPerRead)
		assert.Equal(t, "reads_per_address_per_second", fieldOf(err))
		_, err = read(client, 1)
		require.NoError(t, err, "single entries are free")
		for _, ctx := range []context.Context{budgets.Of(otherAddress).Context(t.Context()), t.Context()} {
			waited, err := read(ctx, 10*EventsPerRead)
			require.NoError(t, err)
			assert.Zero(t, waited)
		}
		assert.Len(t, budgets.all, 2)
		time.Sleep(time.Minute) //nolint:forbidigo // The bubble's clock is fake.
		budgets.sweep()
		assert.Empty(t, budgets.all)
	})
}

// slowPages is a store that takes a second to read a page.
type slowPages struct{ store.Games }

func (slowPages) Entries(context.Context, string, int32, int) ([]store.Record, error) {
	time.Sleep(time.Second) //nolint:forbidigo // The bubble's clock is fake.
	return nil, nil
}

// Ensure that pages of history are read one after another, and that others give up when their calls end.
func TestHistory_One(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets, games := NewBudgets(&limits.Limits{}, nil), History(slowPages{})
		began := time.Now()
		for _, address := range []string{clientAddress, otherAddress, otherAddress} {
			ctx, cancel := context.WithTimeout(budgets.Of(address).Context(t.Context()), 1500*time.Millisecond)
			defer cancel()
			go func() { _, _ = games.Entries(ctx, "a", 1, 500) }()
			synctest.Wait()
		}
		_, err := games.Entries(budgets.Of(proxyAddress).Context(t.Context()), "a", 1, 500)
		require.NoError(t, err)
		assert.Equal(t, 3*time.Second, time.Since(began))
	})
}

// Ensure that the calls of an address that run at the same time are few, that others wait, and are
// refused if that takes too long, and that other addresses do not wait. While the store is away, no
// call waits for another.
func TestEnterBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets := NewBudgets(&limits.Limits{limits.ReadsPerAddressPerSecond: 100}, nil)
		var leave func()
		var err error
		for began := time.Now(); time.Since(began) == 0; {
			last := leave
			if leave, err = budgets.Of(clientAddress).Enter(t.Context(), Reading); err != nil {
				leave = last
			}
		}
		assert.Equal(t, "reads_per_address_per_second", fieldOf(err))
		other, err := budgets.Of(otherAddress).Enter(t.Context(), Reading)
		require.NoError(t, err)
		other()
		time.AfterFunc(maxWait/2, leave)
		_, err = budgets.Of(clientAddress).Enter(t.Context(), Reading)
		require.NoError(t, err)

		time.AfterFunc(maxWait/2, func() { budgets.StoreUp(false) })
		for range 3 { // The first of them waits when the store goes away.
			_, err = budgets.Of(clientAddress).Enter(t.Context(), Reading)
			require.NoError(t, err)
		}
		budgets.StoreUp(true)
		_, err = budgets.Of(clientAddress).Enter(t.Context(), Reading)
		assert.Equal(t, "reads_per_address_per_second", fieldOf(err))
	})
}

// Ensure that many calls of an address that change something run at the same time, so that they can wait for
// the store together, in the place of those that read.
func TestEnterBudget_Changing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets := NewBudgets(&limits.Limits{limits.ReadsPerAddressPerSecond: 100}, nil)
		var running []func()
		for began := time.Now(); ; {
			leave, err := budgets.Of(clientAddress).Enter(t.Context(), Changing)
			if err != nil {
				assert.Equal(t, maxWait, time.Since(began))
				break
			}
			running = append(running, leave)
		}
		assert.Len(t, running, max(1, runtime.GOMAXPROCS(0)/2)*Reading)
		for _, leave := range running[1:Reading] {
			leave()
		}
		_, err := budgets.Of(clientAddress).Enter(t.Context(), Reading)
		assert.Equal(t, "reads_per_address_per_second", fieldOf(err))
		running[0]()
		_, err = budgets.Of(clientAddress).Enter(t.Context(), Reading)
		require.NoError(t, err)
	})
}

// observed is a response that calls a function when it is encoded.
type observed struct {
	proto.Message
	encoded func()
}

func (o observed) ProtoReflect() protoreflect.Message {
	o.encoded()
	return o.Message.ProtoReflect()
}

// Ensure that a call runs until its response has been encoded, and over HTTP until that is written.
func TestEnterCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{limits.ReadsPerAddressPerSecond: 100})
		_, c := f.connect(t, clientAddress)
		slots := int64(max(1, runtime.GOMAXPROCS(0)/2)) * Reading
		runs := func() bool {
			synctest.Wait()
			if !c.budget.running.TryAcquire(slots) {
				return true
			}
			c.budget.running.Release(slots)
			return false
		}
		s, cancel, _ := c.open(anyMethod)
		_, err := f.unary(s, func(ctx context.Context, _ any) (any, error) {
			require.NoError(t, EnterCall(ctx, Reading))
			cancel() // The handler continues for a while after the client has left.
			return observed{wrapperspb.Bytes(nil), func() { assert.True(t, runs()) }}, nil
		})
		require.NoError(t, err)
		assert.False(t, runs())

		request := httptest.NewRequestWithContext(peer.NewContext(t.Context(), &peer.Peer{Addr: c.RemoteAddr()}), http.MethodGet, "/", http.NoBody)
		f.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 2 { // A page may need two calls.
				assert.NoError(t, EnterCall(r.Context(), Reading))
				assert.True(t, runs())
			}
			_, _ = w.Write([]byte("done"))
			assert.False(t, runs())
		})).ServeHTTP(httptest.NewRecorder(), request)
	})
}
