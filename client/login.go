package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// NameSource chooses the name of a new account. It is asked with attempt 1, 2,
// … and with the reason why the name before was refused, nil at first. An error
// from it ends LogIn.
type NameSource func(ctx context.Context, attempt int, refused error) (string, error)

// OneName offers a name once.
func OneName(name string) NameSource {
	return func(_ context.Context, attempt int, refused error) (string, error) {
		if attempt > 1 {
			return "", fmt.Errorf("the name %q: %w", name, refused)
		}
		return name, nil
	}
}

// NumberedName offers the name, made to fit, and then the same with a number.
func NumberedName(name string) NameSource {
	return func(_ context.Context, attempt int, refused error) (string, error) {
		switch {
		case refused != nil && !errors.Is(refused, ErrNameTaken) || attempt > 30:
			return "", fmt.Errorf("the name %q: %w", name, refused)
		case attempt == 1:
			return FitName(name), nil
		case attempt < 10:
			return WithNumber(name, attempt), nil
		default: // a popular name
			return WithNumber(name, 10+rand.IntN(99990)), nil
		}
	}
}

// LogIn makes the client act for the account that the store keeps for its
// server, and for a new one where there is none, which is then kept. Where the
// server does not know the account any more, as when it kept its games in
// memory and was restarted, it gets a new one of the same name, with a number if
// that is taken. notice is a line for the user about that, else empty. The error
// is ErrClearText for an account that was used over TLS and a client without.
func LogIn(ctx context.Context, c *Client, store *Store, names NameSource) (cred Credential, notice string, err error) {
	l := login{c, store}
	cred, found, err := store.Load(c.Target())
	if err != nil {
		return Credential{}, "", err
	}
	if !found {
		cred, err = l.create(ctx, Credential{}, names)
		return cred, "", err
	}
	if cred.Token == "" && cred.Pending != "" {
		// The reply to CreatePlayer was lost, and then this program ended.
		done, err := l.register(ctx, cred)
		if nameRefused(err) {
			done, err = l.create(ctx, Credential{Bot: cred.Bot, Previous: cred.Previous}, names)
		}
		return done, "", err
	}

	known, player, err := l.restore(ctx, cred)
	if err != nil || player != nil {
		return known, "", err
	}

	next, err := l.create(ctx, Credential{Bot: cred.Bot, Previous: durable(cred)}, NumberedName(cred.Name))
	if err != nil {
		return Credential{}, "", err
	}
	return next, fmt.Sprintf("%s does not know the account %s any more: you play under a new one, %s.",
		c.Target(), CleanName(cred.Name), next.Name), nil
}

// Replace makes the client act for a new account, which is kept in place of the
// one that the store keeps for its server. That one stays where the name is
// refused: nobody is left without an account.
func Replace(ctx context.Context, c *Client, store *Store, names NameSource) (Credential, error) {
	before, found, err := store.Load(c.Target())
	if err != nil {
		return Credential{}, err
	}
	cred, err := login{c, store}.create(ctx, Credential{}, names)
	if found && nameRefused(err) {
		if err := store.Save(c.Target(), before); err != nil {
			return Credential{}, err
		}
	}
	return cred, err
}

// Restore makes the client act for the account that the store keeps for its
// server, and returns it: nil where none is kept, or the server does not know it.
// The error is ErrClearText for an account that was used over TLS and a client
// without.
func Restore(ctx context.Context, c *Client, store *Store) (*pb.Player, error) {
	cred, found, err := store.Load(c.Target())
	if err != nil || !found {
		return nil, err
	}
	_, player, err := login{c, store}.restore(ctx, cred)
	return player, err
}

// restore finds out which account cred stands for, and keeps just that. The
// player is nil where the server knows none.
func (l login) restore(ctx context.Context, cred Credential) (Credential, *pb.Player, error) {
	for _, candidate := range candidates(cred) {
		if candidate.Token == "" {
			continue // never confirmed
		}
		if err := l.mayUse(candidate); err != nil {
			return Credential{}, nil, err
		}
		player, err := l.client.me(ctx, candidate.Token)
		switch {
		case err == nil:
			candidate.TLS = candidate.TLS || l.client.encrypted
			candidate.PlayerID, candidate.Name, candidate.Pending = player.GetId(), CleanName(player.GetName()), ""
			l.client.SetToken(candidate.Token)
			if candidate == cred {
				return cred, player, nil
			}
			return candidate, player, l.store.Save(l.client.Target(), candidate)
		case !errors.Is(err, ErrBadToken):
			return Credential{}, nil, err
		}
	}
	return Credential{}, nil, nil
}

// RotateStored is Rotate for the account that the store keeps for the client's
// server, which then keeps the new token. Whatever is lost on the way, the next
// LogIn or Recall finds out which token counts. The client must act for that
// account.
func RotateStored(ctx context.Context, c *Client, store *Store) error {
	cred, found, err := store.Load(c.Target())
	if err == nil && (!found || cred.Token == "") {
		err = errors.New("no account is kept for " + c.Target())
	}
	if err == nil {
		err = login{c, store}.mayUse(cred)
	}
	if err != nil {
		return err
	}
	cred.TLS = cred.TLS || c.encrypted
	token, err := c.Rotate(ctx, func(secret string) error {
		cred.Pending = secret
		return store.Save(c.Target(), cred)
	})
	if err != nil {
		return err
	}
	cred.Token, cred.Pending = token, ""
	return store.Save(c.Target(), cred)
}

// mayUse returns an error for an account whose token this client must not send.
func (l login) mayUse(cred Credential) error {
	if cred.TLS && !l.client.encrypted {
		return fmt.Errorf("%s on %s: %w", CleanName(cred.Name), l.client.Target(), ErrClearText)
	}
	return nil
}

// candidates are the accounts that cred may stand for, in the order in which to
// try them. A new secret comes first: an old one may go on working for a while
// after it was replaced.
func candidates(cred Credential) []Credential {
	var list []Credential
	if cred.Pending != "" {
		rotated := cred
		rotated.Token = joinToken(cred.PlayerID, cred.Pending)
		list = append(list, rotated)
	}
	list = append(list, cred)
	if cred.Previous != nil {
		list = append(list, candidates(*cred.Previous)...)
	}
	return list
}

// durable is the account among those of cred that a server may still know when
// it comes back to this target, nil for none.
func durable(cred Credential) *Credential {
	if cred.Durable {
		cred.Previous = nil
		return &cred
	}
	return cred.Previous
}

func nameRefused(err error) bool {
	return errors.Is(err, ErrNameTaken) || errors.Is(err, ErrInvalid)
}

// login is one run of LogIn.
type login struct {
	client *Client
	store  *Store
}

// maxNames is how often a NameSource is asked.
const maxNames = 100

// create creates an account with what is set in cred already and a name from
// names.
func (l login) create(ctx context.Context, cred Credential, names NameSource) (Credential, error) {
	info, err := l.client.Games.GetServerInfo(withToken(ctx, ""), &pb.GetServerInfoRequest{})
	if err != nil {
		return Credential{}, err
	}
	cred.Durable = info.GetStorage() == pb.Storage_STORAGE_DURABLE
	if cred.Durable {
		cred.Previous = nil
	}
	var refused error
	for attempt := 1; attempt <= maxNames; attempt++ {
		cred.Name, err = names(ctx, attempt, refused)
		if err != nil {
			return Credential{}, err
		}
		cred.Pending = NewSecret()
		done, err := l.register(ctx, cred)
		if !nameRefused(err) {
			return done, err
		}
		refused = err
	}
	return Credential{}, fmt.Errorf("after %d names: %w", maxNames, refused)
}

// register creates the account that cred describes. It keeps the secret before it
// asks: were it lost with the reply, the name would be lost for good.
func (l login) register(ctx context.Context, cred Credential) (Credential, error) {
	if err := l.mayUse(cred); err != nil {
		return Credential{}, err
	}
	cred.TLS = l.client.encrypted
	target := l.client.Target()
	if err := l.store.Save(target, cred); err != nil {
		return Credential{}, err
	}
	player, token, err := l.client.createPlayer(ctx, cred.Name, cred.Pending, cred.Bot)
	if err != nil {
		return Credential{}, err
	}
	cred.PlayerID, cred.Name, cred.Token, cred.Pending = player.GetId(), CleanName(player.GetName()), token, ""
	l.client.SetToken(token)
	return cred, l.store.Save(target, cred)
}
