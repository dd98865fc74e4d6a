package client_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/id"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// accounts is a fake server that manages accounts as the contract requires.
type accounts struct {
	fake
	mu       sync.Mutex
	players  map[string]*pb.Player // by token
	loseNext bool                  // whether to lose the reply to the next change
}

func newAccounts(storage pb.Storage) *accounts {
	a := &accounts{players: map[string]*pb.Player{}}
	a.storage = storage
	a.createPlayer = func(_ int, ctx context.Context, r *pb.CreatePlayerRequest) (*pb.CreatePlayerResponse, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if tokenOf(ctx) != "" {
			return nil, badToken()
		}
		if !validName.MatchString(r.GetName()) || len(r.GetSecret()) < 26 {
			return nil, refuse(codes.InvalidArgument, "")
		}
		id := id.Derive([]byte(strings.ToLower(r.GetName())), []byte(r.GetSecret()))
		token := id + "." + r.GetSecret()
		for other, p := range a.players {
			if strings.EqualFold(p.GetName(), r.GetName()) && other != token {
				return nil, refuse(codes.AlreadyExists, pb.ReasonNameTaken)
			}
		}
		a.players[token] = &pb.Player{Id: id, Name: r.GetName(), Bot: r.GetBot()}
		return &pb.CreatePlayerResponse{Player: a.players[token], Token: token}, a.lose()
	}
	a.getPlayer = func(_ int, ctx context.Context, r *pb.GetPlayerRequest) (*pb.Player, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, p := range a.players {
			if p.GetId() == r.GetPlayerId() {
				return p, nil
			}
		}
		if r.GetPlayerId() != "me" {
			return nil, refuse(codes.NotFound, pb.ReasonPlayerNotFound)
		}
		return a.caller(ctx)
	}
	a.rotate = func(_ int, ctx context.Context, r *pb.RotateTokenRequest) (*pb.RotateTokenResponse, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		player, err := a.caller(ctx)
		if err != nil {
			return nil, err
		}
		delete(a.players, strings.TrimPrefix(tokenOf(ctx), "Bearer "))
		token := player.GetId() + "." + r.GetSecret()
		a.players[token] = player
		return &pb.RotateTokenResponse{Token: token}, a.lose()
	}
	return a
}

func (a *accounts) lose() error {
	if a.loseNext {
		a.loseNext = false
		return refuse(codes.Internal, "") // gRPC does not retry this code; the outcome is unknown
	}
	return nil
}

func (a *accounts) caller(ctx context.Context) (*pb.Player, error) {
	token := strings.TrimPrefix(tokenOf(ctx), "Bearer ")
	if p := a.players[token]; p != nil {
		return p, nil
	}
	return nil, badToken()
}

func (a *accounts) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.players)
}

func newStore(t *testing.T) *client.Store {
	t.Helper()
	return client.NewStore(filepath.Join(t.TempDir(), "credentials.json"))
}

// startAccounts starts a server without accounts, and returns its clients' configuration and an empty store.
func startAccounts(t *testing.T) (*accounts, client.Config, *client.Store) {
	t.Helper()
	a := newAccounts(pb.Storage_STORAGE_DURABLE)
	return a, client.Config{Target: a.start(t)}, newStore(t)
}

// logIn logs in, without a notice.
func logIn(t *testing.T, c *client.Client, store *client.Store, name string) client.Credential {
	t.Helper()
	cred, notice, err := client.LogIn(waittest.Context(t), c, store, name)
	require.NoError(t, err)
	require.Empty(t, notice)
	return cred
}

// load returns the credential for a target.
func load(t *testing.T, store *client.Store, target string) client.Credential {
	t.Helper()
	cred, _, err := store.Load(target)
	require.NoError(t, err)
	return cred
}

// Ensure that LogInBot creates a bot's account and reuses it, even if the server forgot
// it or the first reply was lost, and that it refuses a person's account.
func TestLogInBot(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	a.loseNext = true
	_, _, err := client.LogInBot(waittest.Context(t), dial(t, config), store, "robin")
	require.Error(t, err)
	c := dial(t, config)
	cred, _, err := client.LogInBot(waittest.Context(t), c, store, "")
	require.NoError(t, err)
	assert.True(t, cred.Bot)
	me, err := c.Me(waittest.Context(t))
	require.NoError(t, err)
	assert.True(t, me.GetBot())

	again, notice, err := client.LogInBot(waittest.Context(t), dial(t, config), store, "")
	require.NoError(t, err)
	assert.Empty(t, notice)
	assert.Equal(t, cred, again)
	assert.Len(t, a.players, 1)

	a.forget()
	next, notice, err := client.LogInBot(waittest.Context(t), dial(t, config), store, "")
	require.NoError(t, err)
	assert.Contains(t, notice, "robin")
	assert.NotEqual(t, cred.Token, next.Token)
	assert.True(t, next.Bot)

	persons := newStore(t)
	person := logIn(t, dial(t, config), persons, "ada")
	assert.False(t, person.Bot)
	c = dial(t, config)
	_, _, err = client.LogInBot(waittest.Context(t), c, persons, "robot")
	require.ErrorIs(t, err, client.ErrNotBot)
	assert.Empty(t, c.PlayerID())
	assert.Equal(t, person, load(t, persons, c.Target()))
}

// Ensure that LogInBot does not fall back to the account that a person had on another server
// at the same address.
func TestLogInBot_Previous(t *testing.T) {
	t.Parallel()
	_, config, store := startAccounts(t)
	c := dial(t, config)
	person := logIn(t, c, store, "ada")
	gone := client.Credential{PlayerID: playerID, Name: "robin", Bot: true, Token: playerID + "." + client.NewSecret(), Previous: &person}
	require.NoError(t, store.Save(c.Target(), gone))

	c = dial(t, config)
	cred, _, err := client.LogInBot(waittest.Context(t), c, store, "")
	require.NoError(t, err)
	assert.True(t, cred.Bot)
	assert.Equal(t, cred.PlayerID, c.PlayerID())
	require.NotNil(t, cred.Previous)
	assert.Equal(t, person.PlayerID, cred.Previous.PlayerID)
}

func TestLogIn_NameTaken(t *testing.T) {
	t.Parallel()
	_, config, _ := startAccounts(t)
	c := dial(t, config)
	_, _, err := c.CreatePlayer(waittest.Context(t), "Ada", false)
	require.NoError(t, err)
	assert.Empty(t, c.PlayerID())

	cred := logIn(t, c, newStore(t), "ada")
	assert.Equal(t, "ada-2", cred.Name)
	cred = logIn(t, dial(t, config), newStore(t), "")
	assert.Regexp(t, "^guest-[a-z2-7]{6}$", cred.Name)
	_, _, err = client.LogIn(waittest.Context(t), dial(t, config), newStore(t), "not a näme")
	assert.ErrorIs(t, err, client.ErrInvalid)
}

// Ensure that Create uses only the given name, drops the account that the client acts for, and changes nothing if
// the name is refused.
func TestCreate(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	c := dial(t, config)
	_, _, err := c.CreatePlayer(waittest.Context(t), "Ada", false)
	require.NoError(t, err)

	a.loseNext = true
	_, err = client.Create(waittest.Context(t), c, store, "bob")
	require.Error(t, err)
	bob, err := client.Create(waittest.Context(t), c, store, "BOB")
	require.NoError(t, err, "the name belongs to the account whose reply was lost")
	assert.Equal(t, bob.PlayerID, c.PlayerID())
	for name, want := range map[string]error{"ada": client.ErrNameTaken, "not a näme": client.ErrInvalid} {
		_, err = client.Create(waittest.Context(t), c, store, name)
		require.ErrorIs(t, err, want)
		assert.Equal(t, bob, load(t, store, c.Target()))
	}

	stranger := dial(t, config)
	eve, err := client.Create(waittest.Context(t), stranger, store, "eve")
	require.NoError(t, err)
	require.NotNil(t, eve.Previous)
	assert.Equal(t, bob.PlayerID, eve.Previous.PlayerID)
	dan, err := client.Create(waittest.Context(t), stranger, store, "dan")
	require.NoError(t, err)
	require.NotNil(t, dan.Previous)
	assert.Equal(t, bob.PlayerID, dan.Previous.PlayerID)
	assert.Nil(t, dan.Previous.Previous)

	bot := client.Credential{Name: "robin", Bot: true, Pending: client.NewSecret()}
	require.NoError(t, store.Save(c.Target(), bot))
	robin, err := client.Create(waittest.Context(t), c, store, "robin")
	require.NoError(t, err)
	assert.False(t, robin.Bot, "an account for a person, although a bot's was not confirmed")
}

// Ensure that a name that is too long is neither sent nor stored, and that one that an
// older client stored does not prevent another login.
func TestLogIn_LongName(t *testing.T) {
	t.Parallel()
	a := newAccounts(pb.Storage_STORAGE_DURABLE)
	config := client.Config{Target: a.start(t, grpc.MaxRecvMsgSize(4096))}
	store := newStore(t)
	long := strings.Repeat("a", 100_000)
	c := dial(t, config)
	_, _, err := client.LogIn(waittest.Context(t), c, store, long)
	require.ErrorIs(t, err, client.ErrInvalid)
	assert.EqualError(t, err, "a name has at most 24 characters, and this one has 100000")
	_, found, err := store.Load(c.Target())
	require.NoError(t, err)
	assert.False(t, found)

	require.NoError(t, store.Save(c.Target(), client.Credential{Name: long, Pending: client.NewSecret()}))
	cred := logIn(t, c, store, "bob")
	assert.Equal(t, "bob", cred.Name)
	assert.Equal(t, 1, a.made("createPlayer"))
}

// Ensure that LogIn creates no account in place of one whose token was replaced elsewhere, and that Create does.
func TestLogIn_TokenReplaced(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	c := dial(t, config)
	cred := logIn(t, c, store, "ada")
	elsewhere := newStore(t)
	require.NoError(t, elsewhere.Save(c.Target(), cred))
	require.NoError(t, client.Rotate(waittest.Context(t), c, store))

	_, _, err := client.LogIn(waittest.Context(t), dial(t, config), elsewhere, "")
	require.ErrorIs(t, err, client.ErrBadToken)
	assert.ErrorContains(t, err, "the token of ada on")
	assert.Equal(t, cred, load(t, elsewhere, c.Target()))

	answer := a.getPlayer
	a.getPlayer = func(n int, ctx context.Context, r *pb.GetPlayerRequest) (*pb.Player, error) {
		if r.GetPlayerId() != "me" {
			return nil, refuse(codes.ResourceExhausted, pb.ReasonRateLimited)
		}
		return answer(n, ctx, r)
	}
	_, _, err = client.LogIn(waittest.Context(t), dial(t, config), elsewhere, "")
	require.ErrorIs(t, err, client.ErrRateLimited, "whether the server has the account is not known")
	assert.Equal(t, cred, load(t, elsewhere, c.Target()))
	a.getPlayer = answer

	other, err := client.Create(waittest.Context(t), dial(t, config), elsewhere, "eve")
	require.NoError(t, err)
	assert.Equal(t, "eve", other.Name)
	require.NotNil(t, other.Previous)
	assert.Equal(t, cred.PlayerID, other.Previous.PlayerID)
}

func TestLogIn_AccountForgotten(t *testing.T) {
	t.Parallel()
	a := newAccounts(pb.Storage_STORAGE_EMBEDDED)
	config, store := client.Config{Target: a.start(t)}, newStore(t)
	first := logIn(t, dial(t, config), store, "ada")

	a.forget()
	second, notice, err := client.LogIn(waittest.Context(t), dial(t, config), store, "")
	require.NoError(t, err)
	assert.Equal(t, "ada", second.Name)
	assert.NotEqual(t, first.Token, second.Token)
	assert.Contains(t, notice, "ada")
	assert.Nil(t, second.Previous)

	a.forget()
	_, _, err = dial(t, config).CreatePlayer(waittest.Context(t), "Ada", false)
	require.NoError(t, err)
	third, notice, err := client.LogIn(waittest.Context(t), dial(t, config), store, "")
	require.NoError(t, err)
	assert.Equal(t, "ada-2", third.Name)
	assert.Contains(t, notice, "ada-2")
}

// Ensure that if servers take turns at one address, the client keeps an account for each.
func TestLogIn_ServersTakeTurns(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	servers := [3]map[string]*pb.Player{{}, {}, {}}
	var first [len(servers)]client.Credential
	for round := range 3 {
		for i, players := range servers {
			a.mu.Lock()
			a.players = players
			a.mu.Unlock()
			cred, notice, err := client.LogIn(waittest.Context(t), dial(t, config), store, "ada")
			require.NoError(t, err)
			if round == 0 {
				first[i] = cred
				continue
			}
			assert.Empty(t, notice)
			assert.Equal(t, first[i].Token, cred.Token)
		}
	}
	assert.Equal(t, len(servers), a.made("createPlayer"))
	stored := load(t, store, dial(t, config).Target())
	assert.Nil(t, stored.Previous.Previous.Previous, "one account for each server")
}

func TestLogIn_LostReply(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	a.loseNext = true
	_, _, err := client.LogIn(waittest.Context(t), dial(t, config), store, "ada")
	require.Error(t, err)

	cred := logIn(t, dial(t, config), store, "")
	assert.Equal(t, "ada", cred.Name)

	// Do the same with a rotation: the program ends before it learns the outcome.
	c := dial(t, config)
	c.SetToken(cred.Token)
	a.loseNext = true
	require.Error(t, client.Rotate(waittest.Context(t), c, store))
	recalled := dial(t, config)
	player, err := client.Restore(waittest.Context(t), recalled, store)
	require.NoError(t, err)
	assert.Equal(t, cred.PlayerID, player.GetId())
	assert.Equal(t, cred.PlayerID, recalled.PlayerID())
	rotated := logIn(t, dial(t, config), store, "")
	assert.Equal(t, cred.PlayerID, rotated.PlayerID)
	assert.NotEqual(t, cred.Token, rotated.Token)
	assert.Empty(t, rotated.Pending)
	assert.Equal(t, 2, a.made("createPlayer"))
}

func TestRotate_AnotherAccount(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	c := dial(t, config)
	cred := logIn(t, c, store, "ada")
	_, other, err := c.CreatePlayer(waittest.Context(t), "eve", false)
	require.NoError(t, err)
	for _, token := range []string{other, ""} {
		c.SetToken(token)
		require.ErrorContains(t, client.Rotate(waittest.Context(t), c, store), "ada")
	}
	assert.Equal(t, cred, load(t, store, c.Target()))
	assert.Zero(t, a.made("rotate"))

	c.SetToken(cred.Token)
	require.NoError(t, client.Rotate(waittest.Context(t), c, store))
}

func TestRotate(t *testing.T) {
	t.Parallel()
	a, config, store := startAccounts(t)
	c := dial(t, config)
	cred := logIn(t, c, store, "ada")

	// The name is too long for the temporary file of a change.
	full := client.NewStore(filepath.Join(t.TempDir(), strings.Repeat("n", 250)))
	content, err := os.ReadFile(store.Path())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(full.Path(), content, 0o600))
	require.ErrorIs(t, client.Rotate(waittest.Context(t), c, full), syscall.ENAMETOOLONG)
	assert.Zero(t, a.made("rotate"))

	// The first reply is lost, and the client notices.
	rotate := a.rotate
	a.rotate = func(n int, ctx context.Context, r *pb.RotateTokenRequest) (*pb.RotateTokenResponse, error) {
		response, err := rotate(n, ctx, r)
		if n == 1 {
			return nil, refuse(codes.Unavailable, pb.ReasonStorageUnavailable)
		}
		return response, err
	}
	require.NoError(t, client.Rotate(waittest.Context(t), c, store))
	rotated := load(t, store, c.Target())
	assert.NotEqual(t, cred.Token, rotated.Token)
	cred.Token = rotated.Token
	assert.Equal(t, cred, rotated)
	player, err := c.Me(waittest.Context(t))
	require.NoError(t, err)
	assert.Equal(t, cred.PlayerID, player.GetId())

	a.forget()
	assert.ErrorIs(t, client.Rotate(waittest.Context(t), c, store), client.ErrBadToken)
}
