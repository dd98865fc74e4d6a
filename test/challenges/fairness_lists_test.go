package challenges_test

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// listPaths returns the calls that list games.
func listPaths() []path {
	var all []path
	add := func(list *pb.ListGamesRequest, of string, account bool) {
		all = append(all, path{
			name: fmt.Sprintf("ListGames %s of %s by %s", list.GetStatus(), of, list.GetOrderBy()), account: account,
			request: func(env *env, _ stage, r *reader) proto.Message {
				request := proto.CloneOf(list)
				switch of {
				case "the owner":
					request.PlayerId = env.owner.player.ID
				case "the owner's name":
					request.PlayerName = "Ms-owner"
				case "the reader":
					request.PlayerId = "me"
				}
				return request
			},
			want: func(env *env, s stage, r *reader) want {
				request := proto.CloneOf(list)
				switch of {
				case "the owner", "the owner's name":
					request.PlayerId = env.owner.player.ID
				case "the reader":
					if !env.ownsIt(r) {
						return want{seed: env.either(s)}
					}
					request.PlayerId = "me"
				}
				return env.listed(s, r, request)
			},
		})
	}
	for _, status := range []pb.GameStatus{0, pb.GameStatus_GAME_STATUS_ACTIVE, pb.GameStatus_GAME_STATUS_FINISHED, pb.GameStatus_GAME_STATUS_WAITING} {
		add(&pb.ListGamesRequest{Status: status}, "all", false)
		add(&pb.ListGamesRequest{Status: status}, "the owner", false)
		add(&pb.ListGamesRequest{Status: status}, "the owner's name", false)
		add(&pb.ListGamesRequest{Status: status}, "the reader", true)
		add(&pb.ListGamesRequest{Status: status, Variant: "classic"}, "all", false)
	}
	for _, order := range []pb.OrderBy{pb.OrderBy_ORDER_BY_SCORE, pb.OrderBy_ORDER_BY_WATCHERS} {
		add(&pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: order}, "all", false)
		add(&pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE, OrderBy: order, Variant: "classic"}, "all", false)
	}
	return all
}

// rosterPaths returns the calls that concern the roster of a race. The tests skip them
// in stages in which they would change it.
func rosterPaths() []path {
	rule := func(entrant, other string) func(*env, stage, *reader) want {
		return func(env *env, s stage, r *reader) want {
			reason := entrant
			if r.game == nil {
				reason = other
			}
			switch {
			case env.kind != race:
				return refused(invalidArgument)
			case reason != "":
				return refused(reason)
			}
			return want{seed: env.either(s)}
		}
	}
	return []path{
		{
			name: "JoinChallenge", account: true, want: rule("", pb.ReasonChallengeStarted),
			request: func(env *env, s stage, r *reader) proto.Message {
				if s == waiting && r.game == nil && r.player != nil {
					return nil
				}
				return &pb.JoinChallengeRequest{ChallengeId: env.challenge.GetId()}
			},
		},
		{
			name: "LeaveChallenge", account: true, want: rule(pb.ReasonChallengeStarted, ""),
			request: func(env *env, s stage, r *reader) proto.Message {
				if s == waiting && r.game != nil {
					return nil
				}
				return &pb.LeaveChallengeRequest{ChallengeId: env.challenge.GetId()}
			},
		},
		{
			name: "StartChallenge", account: true,
			request: func(env *env, s stage, r *reader) proto.Message {
				if s == waiting && env.ownsIt(r) {
					return nil
				}
				return &pb.StartChallengeRequest{ChallengeId: env.challenge.GetId()}
			},
			want: func(env *env, s stage, r *reader) want {
				switch {
				case env.kind != race:
					return refused(invalidArgument)
				case !env.ownsIt(r):
					return refused(pb.ReasonNotCreator)
				}
				return want{seed: env.either(s)}
			},
		},
	}
}
