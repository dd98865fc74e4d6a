package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/internal/names"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// LogIn makes the client act for the account that the store keeps for its server. If
// there is no such account, it creates one for a person and stores it: with the given name,
// followed by a number if the name is taken, or with the name of a guest if name is empty.
// The server may no longer know the stored account, for example because it kept everything
// in memory and was restarted, or because it is another server at the same address. LogIn
// then creates an account with the name of the stored one in the same way, and notice is a
// line that tells the user so; otherwise notice is empty. The error is ErrBadToken if the
// server has the account, but its token was replaced elsewhere, ErrInvalid for a name that
// is not allowed, and ErrClearText if the account was used over TLS and the client does not
// use TLS.
func LogIn(ctx context.Context, c *Client, store *Store, name string) (cred Credential, notice string, err error) {
	return login{client: c, store: store}.logIn(ctx, name)
}

// LogInBot is LogIn for a program that chooses its own moves: an account that it creates
// is a bot's. The error is ErrNotBot if the account in the store is a person's. A program
// whose user also plays therefore needs a Store of its own.
func LogInBot(ctx context.Context, c *Client, store *Store, name string) (cred Credential, notice string, err error) {
	return login{client: c, store: store, bot: true}.logIn(ctx, name)
}

// logIn implements LogIn and LogInBot.
func (l login) logIn(ctx context.Context, name string) (cred Credential, notice string, err error) {
	target := l.client.Target()
	cred, found, err := l.store.Load(target)
	if err != nil {
		return Credential{}, "", err
	}
	if found && l.bot && !cred.Bot {
		return Credential{}, "", fmt.Errorf("%s on %s: %w", CleanName(cred.Name), target, ErrNotBot)
	}
	if cred.unconfirmed() {
		done, err := l.register(ctx, cred)
		if !nameRefused(err) {
			return done, "", err
		}
		found = false
	}
	if !found {
		cred, err = l.create(ctx, Credential{Bot: l.bot || cred.Bot, Previous: cred.Previous}, name)
		return cred, "", err
	}

	known, player, err := l.restore(ctx, cred)
	if err != nil || player != nil {
		return known, "", err
	}

	replaced, err := l.replaced(ctx, cred)
	if replaced {
		err = fmt.Errorf("the token of %s on %s was replaced: %w", CleanName(cred.Name), target, ErrBadToken)
	}
	if err != nil {
		return Credential{}, "", err
	}
	next, err := l.create(ctx, Credential{Bot: cred.Bot, Previous: durable(cred)}, FitName(cred.Name))
	if err != nil {
		return Credential{}, "", err
	}
	notice = fmt.Sprintf("%s no longer knows the account %s: you now play as %s, a new account.",
		target, CleanName(cred.Name), next.Name)
	return next, notice, nil
}

// Create creates an account for a person with exactly the given name, makes the client act
// for it, and stores it. If the client was acting for the account stored for its server,
// that account is dropped; otherwise the stored account is kept as Previous if its server
// had a durable store. If the server refuses the name, the stored account is unchanged.
func Create(ctx context.Context, c *Client, store *Store, name string) (Credential, error) {
	before, _, err := store.Load(c.Target())
	if err != nil {
		return Credential{}, err
	}
	l := login{client: c, store: store, exact: true}
	if before.unconfirmed() && !before.Bot && strings.EqualFold(before.Name, name) {
		return l.register(ctx, before)
	}
	return l.create(ctx, Credential{Previous: durable(before, c.PlayerID())}, name)
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

// Rotate replaces the secret of the account that the store keeps for the client's server,
// and stores the new token, which the client uses from then on. It returns an error if the
// client acts for another account. It stores the new secret before it asks the server (see
// Credential.Pending), so that a lost reply does not lose the account, and then tries both
// tokens until ctx is done. If that fails, the next LogIn or Restore determines which token
// is valid.
func Rotate(ctx context.Context, c *Client, store *Store) error {
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
	cred.TLS, cred.Pending = cred.TLS || c.encrypted, NewSecret()
	if err := store.Save(c.Target(), cred); err != nil {
		return err
	}
	before, after := cred.Token, joinToken(idOf(cred.Token), cred.Pending)
	rotate := func(
		ctx context.Context, request *pb.RotateTokenRequest, _ ...grpc.CallOption,
	) (*pb.RotateTokenResponse, error) {
		response, err := c.Players.RotateToken(withToken(ctx, before), request)
		if errors.Is(err, ErrBadToken) {
			// An earlier try may have taken effect.
			response, err = c.Players.RotateToken(withToken(ctx, after), request)
		}
		return response, err
	}
	if _, err := retry(ctx, c, 0, rotate, &pb.RotateTokenRequest{Secret: cred.Pending}); err != nil {
		return err
	}
	c.SetToken(after)
	cred.Token, cred.Pending = after, ""
	return store.Save(c.Target(), cred)
}

// unconfirmed reports whether the reply to the account's CreatePlayer has not arrived, for example because the
// program ended before.
func (c Credential) unconfirmed() bool { return c.Token == "" && c.Pending != "" }

// candidates returns the accounts that cred may represent, in the order in which to try
// them. A pending secret comes first, because servers of earlier versions accept a replaced
// secret for a while.
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

// durable returns the accounts in cred, other than those of the given players, that were
// created on servers with a durable store. The most recently used one comes first. It
// returns nil if there is no such account.
func durable(cred Credential, except ...string) *Credential {
	var first *Credential
	link := &first
	for n, account := 0, &cred; account != nil && n < maxPrevious; account = account.Previous {
		if account.Durable && !slices.Contains(except, account.PlayerID) {
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
	exact  bool // whether to create an account only with the given name
}

// maxNames is the maximum number of names that create tries.
const maxNames = 30

// create creates an account with the given name, or with a similar one if it is taken, and stores it.
// Fields that are already set in cred are kept.
func (l login) create(ctx context.Context, cred Credential, name string) (Credential, error) {
	info, err := l.client.Games.GetServerInfo(withToken(ctx, ""), &pb.GetServerInfoRequest{})
	if err != nil {
		return Credential{}, err
	}
	cred.Durable = info.GetStorage() == pb.Storage_STORAGE_DURABLE
	for attempt := 1; ; attempt++ {
		cred.Name, cred.Pending = nameFor(name, attempt), NewSecret()
		done, err := l.register(ctx, cred)
		if !errors.Is(err, ErrNameTaken) || l.exact || attempt == maxNames {
			return done, err
		}
	}
}

// nameFor returns the name for an attempt: the given one, then one with a number, or a guest's if name is empty.
func nameFor(name string, attempt int) string {
	switch {
	case name == "":
		return names.Guest(NewSecret())
	case attempt == 1:
		return name
	case attempt < 10:
		return WithNumber(name, attempt)
	default: // the small numbers are taken
		return WithNumber(name, 10+rand.IntN(99990))
	}
}

// register creates the account that cred describes. It stores the secret before the call:
// if both the reply and the secret were lost, the name would stay taken. If the server
// refuses the name, the stored account is unchanged.
func (l login) register(ctx context.Context, cred Credential) (Credential, error) {
	if err := checkLength(cred.Name); err != nil {
		return Credential{}, err
	}
	if err := l.mayUse(cred); err != nil {
		return Credential{}, err
	}
	cred.TLS = l.client.encrypted
	target := l.client.Target()
	before, found, err := l.store.Load(target)
	if err == nil {
		err = l.store.Save(target, cred)
	}
	if err != nil {
		return Credential{}, err
	}
	player, token, err := l.client.createPlayer(ctx, cred.Name, cred.Pending, cred.Bot)
	if found && nameRefused(err) {
		err = cmp.Or(l.store.Save(target, before), err)
	}
	if err != nil {
		return Credential{}, err
	}
	cred.PlayerID, cred.Name, cred.Token, cred.Pending = player.GetId(), CleanName(player.GetName()), token, ""
	l.client.SetToken(token)
	return cred, l.store.Save(target, cred)
}
