package transcript

import (
	"bytes"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Reordered returns variants of a transcript in which events are missing, repeated or out of order,
// keyed by the kind of change.
func Reordered(events []*pb.Event) map[string][]*pb.Event {
	half := len(events) / 2
	swapped := slices.Clone(events)
	swapped[half], swapped[half+1] = swapped[half+1], swapped[half]
	renumbered := proto.CloneOf(events[half])
	renumbered.Version++
	repeated := slices.Insert(slices.Clone(events), half+1, renumbered)
	for i := half + 2; i < len(repeated); i++ {
		repeated[i] = proto.CloneOf(repeated[i])
		repeated[i].Version++
	}
	return map[string][]*pb.Event{
		"no beginning": events[1:], "no end": events[:len(events)-1], "swapped": swapped, "repeated": repeated,
		"one left out": slices.Delete(slices.Clone(events), half, half+1),
		"one twice":    slices.Insert(slices.Clone(events), half, events[half]),
	}
}

// Leaf is a value within a message. Tests can alter it.
type Leaf struct {
	// Path is the path of the field.
	Path string
	// Alter sets the field to another value.
	Alter func()
}

// Leaves returns the values that are set in a message. For a list, these are its length, its
// first entry and, if it matters, its order.
func Leaves(m proto.Message) []Leaf { return leaves(m.ProtoReflect(), "") }

func leaves(m protoreflect.Message, path string) []Leaf {
	var all []Leaf
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := strings.TrimPrefix(path+"."+string(field.Name()), ".")
		switch {
		case field.IsList():
			list := v.List()
			if list.Len() == 0 {
				break
			}
			all = append(all, Leaf{name, func() { list.Truncate(list.Len() - 1) }})
			if field.Message() != nil {
				all = append(all, leaves(list.Get(0).Message(), name)...)
				break
			}
			first, last := list.Get(0), list.Get(list.Len()-1)
			all = append(all, Leaf{name, func() { list.Set(0, other(field, first)) }})
			if !first.Equal(last) && field.Name() != "legal_moves" && field.Name() != "winners" {
				all = append(all, Leaf{name, func() { list.Set(0, last); list.Set(list.Len()-1, first) }})
			}
		case field.Message() != nil:
			all = append(all, leaves(v.Message(), name)...)
			all = append(all, Leaf{name, func() { m.Clear(field) }})
		default:
			all = append(all, Leaf{name, func() { m.Set(field, other(field, v)) }})
		}
		return true
	})
	return all
}

// other returns a value different from v.
func other(field protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!v.Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(v.Enum()%4 + 1)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(v.String() + "x")
	case protoreflect.BytesKind:
		b := bytes.Clone(v.Bytes())
		b[0] ^= 1
		return protoreflect.ValueOfBytes(b)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(v.Int() + 1)
	default:
		return protoreflect.ValueOfInt32(int32(v.Int()) + 1)
	}
}
