package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/gridstand/gridstand/server/internal/invalid"
)

// jsonCodec encodes messages in JSON. Unlike the codec of package connect, it rejects
// requests with unknown fields and unknown enum values, because these are most likely
// mistakes. For example, misspelling a field must not make a private game public. Its
// errors name the field (see reject).
type jsonCodec struct{ name string }

// jsonCodecs returns options that register the codec under both names that package connect
// looks up.
func jsonCodecs() connect.HandlerOption {
	return connect.WithHandlerOptions(connect.WithCodec(jsonCodec{"json"}), connect.WithCodec(jsonCodec{"json; charset=utf-8"}))
}

// Name implements connect.Codec.
func (c jsonCodec) Name() string { return c.name }

// Marshal implements connect.Codec.
func (c jsonCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend appends the encoded message to b. If a codec has this method, package
// connect uses it instead of Marshal.
func (jsonCodec) MarshalAppend(b []byte, message any) ([]byte, error) {
	return protojson.MarshalOptions{}.MarshalAppend(b, message.(proto.Message))
}

// Unmarshal implements connect.Codec.
func (jsonCodec) Unmarshal(data []byte, message any) error {
	if len(data) == 0 {
		return errors.New("an empty body is not a JSON object; a request without fields is {}")
	}
	m := message.(proto.Message)
	err := protojson.UnmarshalOptions{}.Unmarshal(data, m)
	if err == nil {
		return nil
	}
	if json.Valid(data) {
		if found := findInvalid("", data, m.ProtoReflect().Descriptor()); found != nil {
			reject(m, found)
			return nil
		}
	}
	return err
}

// rejectedField is the number of the unknown field that marks a message as rejected. The
// number is reserved, so no contract can use it.
const rejectedField = protowire.FirstReservedNumber

// reject replaces a message with an error, which rejected returns. If the codec itself
// returned the error, package connect would not send its details.
func reject(message proto.Message, err *invalid.Error) {
	proto.Reset(message)
	mark := protowire.AppendTag(nil, rejectedField, protowire.BytesType)
	message.ProtoReflect().SetUnknown(protowire.AppendString(mark, err.Field+"\x00"+err.Description))
}

// rejected returns the error with which the codec rejected a request, or nil if it accepted
// the request.
func rejected(request any) error {
	unknown := request.(proto.Message).ProtoReflect().GetUnknown()
	number, kind, n := protowire.ConsumeTag(unknown)
	if number != rejectedField || kind != protowire.BytesType {
		return nil
	}
	mark, _ := protowire.ConsumeString(unknown[n:])
	field, description, _ := strings.Cut(mark, "\x00")
	return &invalid.Error{Field: field, Description: description}
}

// member is a name and its value in a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of a JSON object in their order. It returns an error if data
// is not an object.
func members(data []byte) ([]member, error) {
	var all []member
	decoder := json.NewDecoder(bytes.NewReader(data))
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // Names in an object are strings.
		if err := decoder.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// findInvalid returns an error for the first field of a message that is unknown, repeated
// or has a value of the wrong type, or nil if all fields are valid. data is the message in valid
// JSON. path is the message's path in the request, followed by a dot.
func findInvalid(path string, data json.RawMessage, message protoreflect.MessageDescriptor) *invalid.Error {
	all, err := members(data)
	if err != nil {
		return nil // It is not an object. The caller names the field that contains it.
	}
	set := map[protoreflect.FullName]string{} // fields and oneofs that are set, and the fields' names
	for _, m := range all {
		field := message.Fields().ByJSONName(m.name)
		if field == nil {
			field = message.Fields().ByName(protoreflect.Name(m.name))
		}
		if field == nil {
			return violation(path+m.name, "is not a field of %s, which has %s", message.Name(), fieldNames(message))
		}
		// Errors use the spelling of the contract, whatever the spelling of the request.
		name := string(field.Name())
		if _, again := set[field.FullName()]; again {
			return violation(path+name, "must not be set twice")
		}
		set[field.FullName()] = name
		if string(m.value) == "null" {
			continue
		}
		if oneof := field.ContainingOneof(); oneof != nil {
			if other, again := set[oneof.FullName()]; again {
				return violation(path+name, "must not be set together with %s", other)
			}
			set[oneof.FullName()] = name
		}
		if err := findInvalidIn(path+name, m.value, field); err != nil {
			return err
		}
	}
	return nil
}

// findInvalidIn is like findInvalid but checks the value of a field.
func findInvalidIn(path string, value json.RawMessage, field protoreflect.FieldDescriptor) *invalid.Error {
	if !field.IsList() {
		return findInvalidValue(path, value, value, field)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return violation(path, "must be a list")
	}
	for i, element := range list {
		if err := findInvalidValue(path+"["+strconv.Itoa(i)+"]", element, slices.Concat([]byte("["), element, []byte("]")), field); err != nil {
			return err
		}
	}
	return nil
}

// findInvalidValue is like findInvalid but checks a single value of a field. whole is the
// value of the field if it has no other.
func findInvalidValue(path string, value, whole json.RawMessage, field protoreflect.FieldDescriptor) *invalid.Error {
	message := field.Message()
	if message != nil && !field.IsMap() && !isWellKnown(message) {
		if err := findInvalid(path+".", value, message); err != nil {
			return err
		}
	}
	alone := dynamicpb.NewMessage(field.ContainingMessage())
	if protojson.Unmarshal(fmt.Appendf(nil, "{%q: %s}", field.JSONName(), whole), alone) == nil {
		return nil
	}
	return violation(path, "must be %s", expected(value, field))
}

// expected describes the values that a field accepts instead of value.
func expected(value json.RawMessage, field protoreflect.FieldDescriptor) string {
	var text string
	isText := json.Unmarshal(value, &text) == nil
	switch field.Kind() {
	case protoreflect.StringKind:
		if isText {
			return "valid Unicode"
		}
		return "a string"
	case protoreflect.BytesKind:
		return "a string in base64"
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.EnumKind:
		all := "one of " + names(field.Enum().Values(), func(v protoreflect.EnumValueDescriptor) bool {
			// The value 0 of each enum means that the field is not set.
			return v.Number() != 0 && v.Name() != refusedValues[field.FullName()]
		})
		if isText {
			all += ", not " + quote(text)
		}
		return all
	case protoreflect.MessageKind:
		if field.Message().FullName() == "google.protobuf.Duration" {
			return `a string such as "5s"`
		}
		return "an object"
	default:
		return "an integer of 32 bits"
	}
}

// refusedValues contains enum values that a call refuses, keyed by the name of the
// request's field.
var refusedValues = map[protoreflect.FullName]protoreflect.Name{
	"gridstand.v1.CreateChallengeRequest.kind": "CHALLENGE_KIND_DAILY",
}

// isWellKnown reports whether a message has its own JSON format.
func isWellKnown(m protoreflect.MessageDescriptor) bool {
	return strings.HasPrefix(string(m.FullName()), "google.protobuf.")
}

// violation returns the error for a field at a path of a request.
func violation(path, format string, args ...any) *invalid.Error {
	quoted := quote(path)
	return &invalid.Error{Field: quoted[1 : len(quoted)-1], Description: fmt.Sprintf(format, args...)}
}

// quote quotes a string from a request, and truncates it if it is too long.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}

// fieldNames returns the names of a message's fields as a list for an error message.
func fieldNames(m protoreflect.MessageDescriptor) string {
	if m.Fields().Len() == 0 {
		return "no fields"
	}
	return names(m.Fields(), func(protoreflect.FieldDescriptor) bool { return true })
}

// names returns the names of the included fields or enum values as a list for an error
// message.
func names[D protoreflect.Descriptor](all interface {
	Len() int
	Get(i int) D
}, included func(D) bool,
) string {
	var list []string
	for i := range all.Len() {
		if included(all.Get(i)) {
			list = append(list, string(all.Get(i).Name()))
		}
	}
	return strings.Join(list, ", ")
}
