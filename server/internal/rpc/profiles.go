package rpc

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/profile"
	profilev1 "github.com/gridstand/gridstand/server/internal/profile/v1"
)

// GetProfile implements pb.PlayerServiceServer.
func (s *Service) GetProfile(ctx context.Context, request *pb.GetProfileRequest) (*pb.GetProfileResponse, error) {
	p, err := s.player(ctx, &pb.GetPlayerRequest{PlayerId: request.GetPlayerId(), Name: request.GetName()})
	if err != nil {
		return nil, err
	}
	stored, now, err := s.Profiles.Get(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	races, err := s.raceRecord(ctx, stored)
	if err != nil {
		return nil, err
	}
	response := &pb.GetProfileResponse{
		Player: fullPlayer(p), Variants: variantRecords(stored), Daily: dailyRecord(stored, profile.DayOf(now)), Races: races,
	}
	for _, g := range stored.GetLatest() {
		response.Latest = append(response.Latest, &pb.FinishedGame{
			GameId: g.GetId(), Variant: g.GetVariant(), Score: g.GetScore(), Time: timestamppb.New(time.UnixMilli(g.GetTimeMs())),
		})
	}
	return response, nil
}

// variantRecords converts the parts of a profile that concern one variant each.
func variantRecords(stored *profilev1.Profile) []*pb.VariantRecord {
	var records []*pb.VariantRecord
	for _, known := range variants.All() {
		i := slices.IndexFunc(stored.GetVariants(), func(v *profilev1.Variant) bool { return v.GetId() == known.ID })
		if i < 0 {
			continue
		}
		v := stored.GetVariants()[i]
		record := &pb.VariantRecord{
			Variant: v.GetId(), Games: v.GetGames(), Wins: v.GetWins(),
			BestScore: v.GetBestScore(), BestGameId: v.GetBestGameId(),
		}
		if v.GetBestScore() > 0 {
			record.BestTime = timestamppb.New(time.UnixMilli(v.GetBestMs()))
		}
		records = append(records, record)
	}
	return records
}

// dailyRecord converts the part of a profile that concerns daily games.
func dailyRecord(stored *profilev1.Profile, today int32) *pb.DailyRecord {
	record := &pb.DailyRecord{Streak: profile.Streak(stored, today), LongestStreak: stored.GetLongestRun()}
	for _, d := range stored.GetDailies() {
		if d.GetDay() <= today-profile.RecentDays {
			continue
		}
		date := profile.Date(d.GetDay())
		record.Results = append(record.Results, &pb.DailyResult{
			Day: date, Variant: d.GetVariant(), ChallengeId: challenge.DailyID(d.GetVariant(), date), Score: d.GetScore(),
		})
	}
	return record
}

// maxRivals is the maximum number of rivals in a RaceRecord.
const maxRivals = 10

// raceRecord converts the part of a profile that concerns races. It leaves out rivals whom an operator
// has hidden, or whose accounts have expired.
func (s *Service) raceRecord(ctx context.Context, stored *profilev1.Profile) (*pb.RaceRecord, error) {
	record := &pb.RaceRecord{Total: int32(len(stored.GetRaces()))}
	for _, race := range stored.GetRaces() {
		if race.GetWon() {
			record.Won++
		}
	}
	rivals := profile.Rivals(stored)
	rivals = rivals[:min(len(rivals), maxRivals)]
	ids := convert.All(rivals, func(r *profile.Rival) string { return r.PlayerID })
	players, err := s.Accounts.Players(ctx, ids)
	if err != nil {
		return nil, err
	}
	hidden, err := s.Leaderboard.Hidden(ctx, ids...)
	for _, r := range rivals {
		if p, ok := players[r.PlayerID]; ok && !hidden[r.PlayerID] {
			who := translate.Player(p.Player)
			record.Rivals = append(record.Rivals, &pb.Rival{Player: who, Won: r.Won, Lost: r.Lost})
		}
	}
	return record, err
}
