package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// NameSource chooses the name of a new account. It is called with attempt 1, 2, … and with
// the server's error for the previous name, which is nil at first. If it returns an error,
// LogIn returns that error.
type NameSource func(ctx context.Context, attempt int, refused error) (string, error)

// OneName returns a NameSource that offers a single name once.
func OneName(name string) NameSource {
	return func(_ context.Context, attempt int, refused error) (string, error) {
		if attempt > 1 {
			return "", refusal(name, refused)
		}
		return name, nil
	}
}

// refusal returns the error for a name that the server rejected.
func refusal(name string, refused error) error {
	if errors.Is(refused, ErrNameTaken) || checkLength(name) != nil {
		return refused // The server's message contains the name. A long name is not repeated.
	}
	return fmt.Errorf("the name %q: %w", name, refused)
}

// NumberedName returns a NameSource that offers the name, adjusted by FitName, and then
// the same name with a number.
func NumberedName(name string) NameSource {
	return func(_ context.Context, attempt int, refused error) (string, error) {
		switch {
		case refused != nil && !errors.Is(refused, ErrNameTaken) || attempt > 30:
			return "", refusal(name, refused)
		case attempt == 1:
			return FitName(name), nil
		case attempt < 10:
			return WithNumber(name, attempt), nil
		default: // the small numbers are taken
			return WithNumber(name, 10+rand.IntN(99990)), nil
		}
	}
}

// LogIn makes the client act for the account that the store keeps for its server. If
// there is no such account, it creates one for a person and stores it. The server may no
// longer know the account, for example because it kept everything in memory and was
// restarted, or because it is another server at the same address. LogIn then creates an
// account with the same name, followed by a number if the name is taken, and notice is a
// line that tells the user so; otherwise notice is empty. The error is ErrBadToken if the
// server has the account, but its token was replaced elsewhere, and ErrClearText if the
// account was used over TLS and the client does not use TLS.
func LogIn(ctx context.Context, c *Client, store *Store, names NameSource) (cred Credential, notice string, err error) {
	return login{client: c, store: store}.logIn(ctx, names)
}

// LogInAs is LogIn for a user who has just chosen a name: an account that it creates gets this name,
// also if the server no longer knows the stored account.
func LogInAs(ctx context.Context, c *Client, store *Store, name string) (cred Credential, notice string, err error) {
	return login{client: c, store: store, chosen: true}.logIn(ctx, OneName(name))
}

// LogInBot is LogIn for a program that chooses its own moves: an account that it creates
// is a bot's. The error is ErrNotBot if the account in the store is a person's. A program
// whose user also plays therefore needs a Store of its own.
func LogInBot(ctx context.Context, c *Client, store *Store, names NameSource) (cred Credential, notice string, err error) {
	return login{client: c, store: store, bot: true}.logIn(ctx, names)
}

// logIn implements LogIn, LogInAs and LogInBot.
func (l login) logIn(ctx context.Context, names NameSource) (cred Credential, notice string, err error) {
	target := l.client.Target()
	cred, found, err := l.store.Load(target)
	if err != nil {
		return Credential{}, "", err
	}
	if !found {
		cred, err = l.create(ctx, Credential{Bot: l.bot}, names)
		return cred, "", err
	}
	if l.bot && !cred.Bot {
		return Credential{}, "", fmt.Errorf("%s on %s: %w", CleanName(cred.Name), target, ErrNotBot)
	}
	if cred.Token == "" && cred.Pending != "" {
		// The program ended before the reply to CreatePlayer arrived.
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

	replaced, err := l.replaced(ctx, cred)
	switch {
	case err != nil:
		return Credential{}, "", err
	case replaced && !l.chosen:
		return Credential{}, "", fmt.Errorf("the token of %s on %s was replaced: %w", CleanName(cred.Name), target, ErrBadToken)
	case !l.chosen:
		names = NumberedName(cred.Name)
	}
	next, err := l.create(ctx, Credential{Bot: cred.Bot, Previous: durable(cred, "")}, names)
	if err != nil {
		return Credential{}, "", err
	}
	reason := fmt.Sprintf("%s no longer knows the account %s", target, CleanName(cred.Name))
	if replaced {
		reason = fmt.Sprintf("The token of %s on %s was replaced", CleanName(cred.Name), target)
	}
	return next, fmt.Sprintf("%s: you now play as %s, a new account.", reason, next.Name), nil
}

// Replace creates an account with the given name, makes the client act for it, and stores it in
// place of the client's stored account. If the name is rejected, the stored account is kept.
func Replace(ctx context.Context, c *Client, store *Store, name string) (Credential, error) {
	before, found, err := store.Load(c.Target())
	if err != nil {
		return Credential{}, err
	}
	cred, err := login{client: c, store: store}.create(ctx, Credential{}, OneName(name))
	if found && nameRefused(err) {
		if err := store.Save(c.Target(), before); err != nil {
			return Credential{}, err
		}
	}
	return cred, err
}

// Restore makes the client act for the account that the store keeps for its server, and
// returns the account. It returns nil if no account is stored or the server does not know
// it. The error is ErrClearText if the account was used over TLS and the client does not
// use TLS.
func Restore(ctx context.Context, c *Client, store *Store) (*pb.Player, error) {
	cred, found, err := store.Load(c.Target())
	if err != nil || !found {
		return nil, err
	}
	_, player, err := login{client: c, store: store}.restore(ctx, cred)
	return player, err
}

// restore finds the first account among cred and its alternatives that the server knows,
// and stores it. The player is nil if the server knows none of them.
func (l login) restore(ctx context.Context, cred Credential) (Credential, *pb.Player, error) {
	for _, candidate := range candidates(cred) {
		if candidate.Token == "" {
			continue // never confirmed by the server
		}
		if l.bot && !candidate.Bot {
			continue
		}
		if err := l.mayUse(candidate); err != nil {
			return Credential{}, nil, err
		}
		player, err := l.client.Me(withToken(ctx, candidate.Token))
		switch {
		case err == nil:
			candidate.TLS = candidate.TLS || l.client.encrypted
			candidate.PlayerID, candidate.Name, candidate.Pending = player.GetId(), CleanName(player.GetName()), ""
			l.client.SetToken(candidate.Token)
			if candidate == cred {
				return cred, player, nil
			}
			candidate.Previous = durable(cred, candidate.PlayerID)
			return candidate, player, l.store.Save(l.client.Target(), candidate)
		case !errors.Is(err, ErrBadToken):
			return Credential{}, nil, err
		}
	}
	return Credential{}, nil, nil
}

// replaced reports whether the server has the account, so that only its token is no longer valid.
func (l login) replaced(ctx context.Context, cred Credential) (bool, error) {
	_, err := l.client.Players.GetPlayer(withToken(ctx, ""), &pb.GetPlayerRequest{PlayerId: cred.PlayerID})
	if errors.Is(err, ErrPlayerNotFound) || errors.Is(err, ErrInvalid) {
		return false, nil
	}
	return err == nil, err
}

// RotateStored calls Client.Rotate for the account that the store keeps for the client's
// server, and stores the new token. It returns an error if the client acts for another
// account. If a reply is lost, the next LogIn or Restore determines which token is valid.
func RotateStored(ctx context.Context, c *Client, store *Store) error {
	cred, found, err := store.Load(c.Target())
	if err == nil && (!found || cred.Token == "") {
		err = errors.New("no account is stored for " + c.Target())
	}
	if err == nil {
		err = login{client: c, store: store}.mayUse(cred)
	}
	if err == nil && c.PlayerID() != idOf(cred.Token) {
		err = fmt.Errorf("the client does not act for %s, the account stored for %s",
			CleanName(cred.Name), c.Target())
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

// candidates returns the accounts that cred may represent, in the order in which to try
// them. A pending secret comes first because a replaced secret remains valid for a while.
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

// maxPrevious is the maximum number of accounts kept for other servers at the same
// address.
const maxPrevious = 3

// durable returns the accounts in cred, other than playerID's, that were created on
// servers with a durable store. The most recently used one comes first. It returns nil if
// there is no such account.
func durable(cred Credential, playerID string) *Credential {
	var first *Credential
	link := &first
	for n, account := 0, &cred; account != nil && n < maxPrevious; account = account.Previous {
		if account.Durable && account.PlayerID != playerID {
			kept := *account
			kept.Previous = nil
			*link, link = &kept, &kept.Previous
			n++
		}
	}
	return first
}

func nameRefused(err error) bool {
	return errors.Is(err, ErrNameTaken) || errors.Is(err, ErrInvalid)
}

// login combines a client and the store that keeps its account.
type login struct {
	client *Client
	store  *Store
	bot    bool // whether to use only bot accounts
	chosen bool // whether the user has just chosen the name of an account to create
}

// maxNames is the maximum number of calls to a NameSource.
const maxNames = 100

// create creates an account with a name from names and stores it. Fields that are already
// set in cred are kept.
func (l login) create(ctx context.Context, cred Credential, names NameSource) (Credential, error) {
	info, err := l.client.Games.GetServerInfo(withToken(ctx, ""), &pb.GetServerInfoRequest{})
	if err != nil {
		return Credential{}, err
	}
	cred.Durable = info.GetStorage() == pb.Storage_STORAGE_DURABLE
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

// register creates the account that cred describes. It stores the secret before the call:
// if both the reply and the secret were lost, the name would stay taken.
func (l login) register(ctx context.Context, cred Credential) (Credential, error) {
	if err := checkLength(cred.Name); err != nil {
		return Credential{}, err
	}
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
