package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	redislog "github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Options specify how to open a store.
type Options struct {
	// Wait is how long to wait until Redis answers.
	Wait time.Duration
	// ToRestore also opens a store that was not restored completely. The caller must use the store only in Restore.
	ToRestore bool
	// Logger receives warnings for settings that let Redis lose acknowledged writes.
	Logger *slog.Logger
}

// Open connects to Redis at the given URL or URLs (see parseURL). If a URL is invalid, the error is a
// *store.NameError.
func Open(ctx context.Context, url string, o Options) (*store.Store, error) {
	// The library has a log of its own. Its errors contain the same information.
	redislog.Disable()
	options, err := parseURL(url)
	if err != nil {
		return nil, &store.NameError{Err: err}
	}
	c := connect(options)
	c.Logger = o.Logger
	s, err := New(c)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err = c.waitReady(ctx, o.Wait); err == nil {
		err = c.check(ctx, checkWithin)
	}
	if err == nil && !o.ToRestore {
		err = c.checkData(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// checkData returns an error unless this program can use the store's data, which it prepares for that.
func (c Clients) checkData(ctx context.Context) error {
	if err := checkComplete(ctx, c); err != nil {
		return err
	}
	if err := checkFormat(ctx, c.Background, c.Name, store.Format); err != nil {
		return err
	}
	return accounts{c.Background}.foldNames(ctx)
}

// connect creates the clients, which connect on first use.
func connect(base *goredis.UniversalOptions) Clients {
	// Maintenance notifications are a feature of hosted Redis products. Subscribing to
	// them takes one command per connection, which other servers reject.
	base.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	base.DialTimeout = 2 * time.Second
	// Callers retry, because they know their deadlines.
	base.DialerRetries = 1

	appends := *base
	appends.MaxRetries = -1
	appends.ContextTimeoutEnabled = true
	appends.ReadTimeout = cmp.Or(base.ReadTimeout, time.Second)
	appends.WriteTimeout = time.Second

	calls := *base
	calls.ReadTimeout = cmp.Or(base.ReadTimeout, 5*time.Second)
	calls.WriteTimeout = 5 * time.Second
	calls.ContextTimeoutEnabled = true

	return Clients{
		Appends:    goredis.NewUniversalClient(&appends),
		Calls:      goredis.NewUniversalClient(&calls),
		Background: goredis.NewUniversalClient(&calls),
		Name:       storeURL(base),
	}
}

// storeURL returns a store's URL without the password.
func storeURL(o *goredis.UniversalOptions) string {
	scheme := "redis"
	if o.TLSConfig != nil {
		scheme = "rediss"
	}
	address := fmt.Sprintf("%s://%s/%d", scheme, strings.Join(o.Addrs, ","), o.DB)
	if o.MasterName != "" {
		address += "?master_name=" + url.QueryEscape(o.MasterName)
	}
	return address
}

// retryEvery is the delay between attempts to reach Redis at startup.
const retryEvery = 200 * time.Millisecond

// waitReady waits for up to the given time until Redis answers for the first time, and logs why it waits.
// Redis may be starting, too: it may not listen yet, may be loading its data, or may lack nodes.
func (c Clients) waitReady(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var reason error
	for ctx.Err() == nil {
		// With retries, the error would only say that ctx is done. A cluster that is down answers a PING.
		err := c.Appends.Exists(ctx, incompleteKey).Err()
		first := reason == nil
		if first || ctx.Err() == nil {
			reason = err // more specific than a timeout
		}
		switch answer, answered := errors.AsType[goredis.Error](err); {
		case err == nil:
			return nil
		case answered && !transient(answer):
			return fmt.Errorf("%s refuses commands: %w", c.Name, err)
		case untrusted(err):
			return fmt.Errorf("%s: %w", c.Name, err)
		case first && ctx.Err() == nil:
			c.Logger.Info("waiting for redis", "for", wait, "error", c.noAnswer(err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
	if reason == nil || errors.Is(ctx.Err(), context.Canceled) {
		reason = ctx.Err()
	}
	return c.noAnswer(reason)
}

// noAnswer returns the error that Redis does not answer, or answers that it is not ready. If a connection
// fails in another way than by a timeout, the error says that the other scheme may be right.
func (c Clients) noAnswer(reason error) error {
	state, hint := "does not answer", ""
	dialed, failed := errors.AsType[*net.OpError](reason)
	_, answered := errors.AsType[goredis.Error](reason)
	switch {
	case answered:
		state = "is not ready"
	case failed && dialed.Op == "dial", errors.Is(reason, os.ErrDeadlineExceeded), errors.Is(reason, context.Canceled):
	case strings.HasPrefix(c.Name, "rediss:"):
		hint = "; if it does not use TLS, its URL must begin with redis://"
	default:
		hint = "; if it uses TLS, its URL must begin with rediss://"
	}
	return fmt.Errorf("%s %s: %w%s", c.Name, state, reason, hint)
}

// untrusted reports whether either side of a TLS connection refused the other's certificate.
func untrusted(err error) bool {
	_, here := errors.AsType[*tls.CertificateVerificationError](err)
	there, ok := errors.AsType[*net.OpError](err)
	return here || ok && there.Op == "remote error"
}

// transient reports whether a retry may succeed after the given error reply.
func transient(answer goredis.Error) bool {
	prefixes := []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return goredis.HasErrorPrefix(answer, prefix) })
}
