package verify_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	transcripts "github.com/gridstand/gridstand/internal/testkit/transcript"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestTranscript_AlteredField alters every field of one event of every kind in turn, except
// abandoned, which has no field of its own. Each change must be detected, except in fields that a
// verifier cannot check.
func TestTranscript_AlteredField(t *testing.T) {
	t.Parallel()
	unverifiable := []string{
		"time.seconds", "created.seats.bot", "joined.seat.player.id", "joined.seat.player.name", "timed_out.stand_in",
	}
	action := (&pb.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("action")
	for _, variant := range []string{"classic", "tribolo"} {
		seen := map[protoreflect.Name]bool{}
		for n := uint64(0); len(seen) < action.Fields().Len()-1; n++ {
			events, _ := transcripts.Life(t, variant, rand.New(rand.NewPCG(n, 77)))
			for i, e := range events {
				kind := e.ProtoReflect().WhichOneof(action).Name()
				if seen[kind] || kind == "abandoned" {
					continue
				}
				seen[kind] = true
				for leaf := range transcripts.Leaves(e) {
					altered := proto.CloneOf(e)
					field := transcripts.Leaves(altered)[leaf]
					if slices.Contains(unverifiable, field.Path) {
						continue
					}
					field.Alter()
					_, err := verify.Transcript(transcripts.All(slices.Replace(slices.Clone(events), i, i+1, altered)))
					assert.Errorf(t, err, "%s, game %d, version %d: %s", variant, n, i+1, field.Path)
				}
			}
		}
	}
}
