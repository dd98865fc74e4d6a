package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// difference describes the first field in which got differs from recomputed. It returns "" if
// there is no difference. It ignores fields that this version of the program does not know.
func difference(got, recomputed *pb.Event) string {
	got = proto.CloneOf(got)
	sortSets(got)
	sortSets(recomputed)
	return differenceOf(got.ProtoReflect(), recomputed.ProtoReflect(), "")
}

// sortSets sorts the lists whose order the contract leaves open.
func sortSets(e *pb.Event) {
	slices.Sort(e.GetPosition().GetTwenty48().GetLegalMoves())
	tribolo := e.GetPosition().GetTribolo().GetLegalMoves()
	slices.SortFunc(tribolo, func(a, b *pb.TriboloMove) int { return byCell(a.GetCell(), b.GetCell()) })
	for _, move := range tribolo {
		slices.SortFunc(move.GetTaken(), byCell)
	}
	slices.SortFunc(e.GetMoved().GetTaken(), byCell)
	slices.Sort(e.GetResult().GetWinners())
}

func byCell(a, b *pb.Cell) int {
	return cmp.Or(cmp.Compare(a.GetX(), b.GetX()), cmp.Compare(a.GetY(), b.GetY()))
}

func differenceOf(got, recomputed protoreflect.Message, path string) string {
	fields := recomputed.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		name := strings.TrimPrefix(path+"."+string(field.Name()), ".")
		var what string
		switch {
		case field.IsList():
			what = differenceOfLists(field, got.Get(field).List(), recomputed.Get(field).List(), name)
		case field.HasPresence() && got.Has(field) && !recomputed.Has(field):
			what = name + " is set, but should be missing"
		case field.HasPresence() && !got.Has(field) && recomputed.Has(field):
			what = name + " is missing"
		case field.HasPresence() && !got.Has(field):
		default:
			what = differenceOfValues(field, got.Get(field), recomputed.Get(field), name)
		}
		if what != "" {
			return what
		}
	}
	return ""
}

func differenceOfLists(field protoreflect.FieldDescriptor, got, recomputed protoreflect.List, path string) string {
	for i := range min(got.Len(), recomputed.Len()) {
		what := differenceOfValues(field, got.Get(i), recomputed.Get(i), fmt.Sprintf("%s[%d]", path, i))
		if what != "" {
			return what
		}
	}
	if got.Len() != recomputed.Len() {
		return fmt.Sprintf("%s has %d entries, recomputed %d", path, got.Len(), recomputed.Len())
	}
	return ""
}

func differenceOfValues(field protoreflect.FieldDescriptor, got, recomputed protoreflect.Value, path string) string {
	if field.Message() != nil {
		return differenceOf(got.Message(), recomputed.Message(), path)
	}
	if got.Equal(recomputed) {
		return ""
	}
	return fmt.Sprintf("%s is %s, recomputed %s", path, show(field, got), show(field, recomputed))
}

// show formats a value as text that is safe to print in a terminal.
func show(field protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch field.Kind() {
	case protoreflect.EnumKind:
		if value := field.Enum().Values().ByNumber(v.Enum()); value != nil {
			return string(value.Name())
		}
		return fmt.Sprint(v.Enum())
	case protoreflect.StringKind:
		return fmt.Sprintf("%q", v.String())
	case protoreflect.BytesKind:
		return fmt.Sprintf("%x", v.Bytes())
	default:
		return fmt.Sprint(v.Interface())
	}
}
