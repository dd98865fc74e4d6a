package challenges_test

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// path is a call that might reveal the owner's attempt or the seed.
type path struct {
	name string
	// request returns the request, or nil if the reader must not make it at this stage, because it
	// would change what the other readers should see.
	request func(env *env, s stage, r *reader) proto.Message
	want    func(env *env, s stage, r *reader) want
	// account reports whether the call needs an account.
	account bool
}

// unrelated lists calls that reveal nothing about games, with what each concerns instead.
var unrelated = map[string]string{
	"CreatePlayer": "a new account", "RotateToken": "a token", "AddKey": "keys", "RemoveKey": "keys",
}

// always returns a function that returns the same request for every stage and reader.
func always(request func(env *env) proto.Message) func(*env, stage, *reader) proto.Message {
	return func(env *env, _ stage, _ *reader) proto.Message { return request(env) }
}

// nothing is the rule for calls that show neither boards nor the seed.
func nothing(*env, stage, *reader) want { return want{} }

// theSeed is the rule for calls that show the challenge.
func theSeed(env *env, s stage, _ *reader) want {
	if env.public(s) {
		return want{seed: yes}
	}
	return want{}
}

// perhapsSeed is like theSeed but for calls that may show the seed late.
func perhapsSeed(env *env, s stage, _ *reader) want { return want{seed: env.either(s)} }

// paths returns all calls that might reveal something.
func paths() []path {
	all := []path{
		{
			name:    "GetGame",
			request: always(func(env *env) proto.Message { return &pb.GetGameRequest{GameId: env.owner.game.GetId()} }),
			want:    (*env).attempt,
		},
		{
			name: "GetGame of the reader's own attempt",
			request: func(_ *env, _ stage, r *reader) proto.Message {
				if r.game == nil {
					return nil
				}
				return &pb.GetGameRequest{GameId: r.game.GetId()}
			},
			want: (*env).own,
		},
		{
			name: "CreateGame again",
			request: func(env *env, s stage, r *reader) proto.Message {
				if r.player != nil && r.game == nil && s < closed && env.kind != race {
					return nil
				}
				return &pb.CreateGameRequest{ChallengeId: env.challenge.GetId()}
			},
			want: func(env *env, s stage, r *reader) want {
				switch {
				case r.game == nil && env.kind == race:
					return refused(pb.ReasonNotEntered)
				case r.game == nil:
					return refused(pb.ReasonChallengeClosed)
				}
				return env.own(s, r)
			},
			account: true,
		},
		{
			name:    "JoinGame",
			request: always(func(env *env) proto.Message { return &pb.JoinGameRequest{GameId: env.owner.game.GetId()} }),
			want: func(env *env, s stage, r *reader) want {
				if !env.ownsIt(r) {
					return refused(pb.ReasonSeatTaken)
				}
				return env.attempt(s, r)
			},
			account: true,
		},
		{
			name: "CreateChallenge, a rematch of the attempt",
			request: func(env *env, _ stage, r *reader) proto.Message {
				return &pb.CreateChallengeRequest{
					Kind: rematch, GameId: env.owner.game.GetId(), Private: true, RequestId: id.Derive([]byte(r.role)),
				}
			},
			want: func(env *env, s stage, r *reader) want {
				read := env.attempt(s, r)
				switch {
				case read.reason != "":
					return read
				case read.seed == no:
					return refused(pb.ReasonSeedHidden)
				}
				return want{seed: yes}
			},
			account: true,
		},
		{
			name: "CreateChallenge, a link",
			request: func(_ *env, _ stage, r *reader) proto.Message {
				return &pb.CreateChallengeRequest{Kind: link, Variant: "classic", Private: true, RequestId: id.Derive([]byte("link"), []byte(r.role))}
			},
			want: nothing, account: true,
		},
		{
			name:    "GetChallenge",
			request: always(func(env *env) proto.Message { return &pb.GetChallengeRequest{ChallengeId: env.challenge.GetId()} }),
			want:    theSeed,
		},
		{
			name: "GetChallenge, the daily game",
			request: always(func(env *env) proto.Message {
				return &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: "classic", Date: env.challenge.GetDate()}}
			}),
			want: func(env *env, s stage, r *reader) want {
				if env.kind == daily {
					return theSeed(env, s, r)
				}
				return want{}
			},
		},
		{
			name:    "WatchChallenge",
			request: always(func(env *env) proto.Message { return &pb.WatchChallengeRequest{ChallengeId: env.challenge.GetId()} }),
			want:    theSeed,
		},
		{
			name:    "ListStandings",
			request: always(func(env *env) proto.Message { return &pb.ListStandingsRequest{ChallengeId: env.challenge.GetId()} }),
			want:    nothing,
		},
		{
			name: "ListStandings around the owner",
			request: always(func(env *env) proto.Message {
				return &pb.ListStandingsRequest{ChallengeId: env.challenge.GetId(), PlayerId: env.owner.player.ID, Neighbors: 5}
			}),
			want: func(env *env, s stage, _ *reader) want {
				if env.kind != race && s < over {
					return refused(pb.ReasonNoScore)
				}
				return want{}
			},
		},
		{
			name: "GetRank",
			request: always(func(env *env) proto.Message {
				return &pb.GetRankRequest{Variant: "classic", PlayerId: env.owner.player.ID, Neighbors: 5}
			}),
			want: func(*env, stage, *reader) want { return refused(pb.ReasonNoScore) },
		},
		{
			name:    "GetPlayer",
			request: always(func(env *env) proto.Message { return &pb.GetPlayerRequest{PlayerId: env.owner.player.ID} }),
			want:    nothing,
		},
		{name: "ListKeys", request: always(func(*env) proto.Message { return &pb.ListKeysRequest{} }), want: nothing, account: true},
		{name: "GetServerInfo", request: always(func(*env) proto.Message { return &pb.GetServerInfoRequest{} }), want: nothing},
		{name: "ListVariants", request: always(func(*env) proto.Message { return &pb.ListVariantsRequest{} }), want: nothing},
	}
	for _, kind := range []pb.ChallengeKind{0, daily, race, link, rematch} {
		all = append(all, path{
			name:    fmt.Sprintf("ListChallenges of %v", kind),
			request: always(func(*env) proto.Message { return &pb.ListChallengesRequest{Kind: kind} }),
			want:    perhapsSeed,
		})
	}
	for window := range pb.Window_name {
		all = append(all, path{
			name: fmt.Sprintf("ListScores of window %d", window),
			request: always(func(*env) proto.Message {
				return &pb.ListScoresRequest{Variant: "classic", Window: pb.Window(window)}
			}),
			want: nothing,
		})
	}
	all = append(all, watchPaths()...)
	all = append(all, movePaths()...)
	all = append(all, listPaths()...)
	all = append(all, tomorrowPaths()...)
	return append(all, rosterPaths()...)
}

// tomorrowPaths returns the calls that name tomorrow's daily game.
func tomorrowPaths() []path {
	// before returns a function that returns a request until tomorrow's game opens.
	before := func(request func(tomorrow *pb.Challenge) proto.Message) func(*env, stage, *reader) proto.Message {
		return func(env *env, s stage, _ *reader) proto.Message {
			if env.tomorrow == nil || s >= closed {
				return nil
			}
			return request(env.tomorrow)
		}
	}
	return []path{
		{
			name: "GetChallenge, tomorrow's game", want: nothing,
			request: before(func(c *pb.Challenge) proto.Message { return &pb.GetChallengeRequest{ChallengeId: c.GetId()} }),
		},
		{
			name: "GetChallenge, tomorrow's game by date", want: nothing,
			request: before(func(c *pb.Challenge) proto.Message {
				return &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Variant: c.GetVariant(), Date: c.GetDate()}}
			}),
		},
		{
			name: "WatchChallenge, tomorrow's game", want: nothing,
			request: before(func(c *pb.Challenge) proto.Message { return &pb.WatchChallengeRequest{ChallengeId: c.GetId()} }),
		},
		{
			name: "ListStandings of tomorrow's game", want: nothing,
			request: before(func(c *pb.Challenge) proto.Message { return &pb.ListStandingsRequest{ChallengeId: c.GetId()} }),
		},
		{
			name: "CreateGame in tomorrow's game", account: true,
			request: before(func(c *pb.Challenge) proto.Message { return &pb.CreateGameRequest{ChallengeId: c.GetId()} }),
			want: func(env *env, _ stage, _ *reader) want {
				return want{reason: pb.ReasonChallengeNotOpen, metadata: map[string]string{
					"challenge_id": env.tomorrow.GetId(), "open_time": env.tomorrow.GetOpenTime().AsTime().Format(timeFormat),
				}}
			},
		},
	}
}

// watchPaths returns the calls that stream the owner's attempt.
func watchPaths() []path {
	var all []path
	for n, after := range []int32{-1, 0, 5} {
		for _, every := range []bool{false, true} {
			for _, preview := range []bool{false, true}[:2-n%2] {
				all = append(all, path{
					name: fmt.Sprintf("Watch %d, every event %t, preview %t", n, every, preview),
					request: always(func(env *env) proto.Message {
						request := &pb.WatchRequest{GameId: env.owner.game.GetId(), EveryEvent: every, Preview: preview}
						if after >= 0 {
							request.AfterVersion = &after
						}
						return request
					}),
					want: (*env).attempt,
				})
			}
		}
	}
	return all
}

// movePaths returns the calls that would change the owner's attempt. They name a version that the
// attempt does not have, or repeat an earlier change.
func movePaths() []path {
	const wrong = 999
	// changes returns the rule for calls that change a game.
	changes := func(ended func(*env, stage, *reader) want) func(*env, stage, *reader) want {
		return func(env *env, s stage, r *reader) want {
			switch {
			case !env.ownsIt(r):
				return refused(pb.ReasonNotSeated)
			case s < running:
				return refused(pb.ReasonGameNotStarted)
			case s >= over:
				return ended(env, s, r)
			}
			return refused(pb.ReasonVersionConflict)
		}
	}
	isOver := func(*env, stage, *reader) want { return refused(pb.ReasonGameOver) }
	all := []path{
		{
			name: "Undo", want: changes(isOver), account: true,
			request: always(func(env *env) proto.Message { return &pb.UndoRequest{GameId: env.owner.game.GetId(), Version: wrong} }),
		},
		{
			name: "Resign", want: changes((*env).attempt), account: true,
			request: always(func(env *env) proto.Message {
				return &pb.ResignRequest{GameId: env.owner.game.GetId(), Version: proto.Int32(wrong)}
			}),
		},
		{
			name: "Move again", account: true,
			request: func(env *env, s stage, _ *reader) proto.Message {
				if s < running {
					return nil
				}
				return env.moved
			},
			want: func(env *env, s stage, r *reader) want {
				if !env.ownsIt(r) {
					return refused(pb.ReasonNotSeated)
				}
				return want{board: either} // another attempt may have the same board after the first move
			},
		},
	}
	for direction := pb.Direction_DIRECTION_UP; direction <= pb.Direction_DIRECTION_RIGHT; direction++ {
		move := func(g *pb.Game, version int32) *pb.MoveRequest {
			return &pb.MoveRequest{GameId: g.GetId(), Version: version, Move: &pb.MoveRequest_Direction{Direction: direction}}
		}
		all = append(all, path{
			name: fmt.Sprintf("Move to %v", direction), want: changes(isOver), account: true,
			request: always(func(env *env) proto.Message { return move(env.owner.game, wrong) }),
		}, path{
			// The server must not say whether a move is legal: that would reveal something about
			// the first board.
			name: fmt.Sprintf("Move to %v before the race", direction), account: true,
			request: func(_ *env, s stage, r *reader) proto.Message {
				if s >= running || r.game == nil {
					return nil
				}
				return move(r.game, 1)
			},
			want: func(*env, stage, *reader) want { return refused(pb.ReasonGameNotStarted) },
		})
	}
	return all
}
