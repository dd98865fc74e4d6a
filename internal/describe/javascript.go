package describe

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// JavaScript returns the page's module words.js. It exports the tables of this package, and each of the
// other texts as a string or, if it has parameters, as a function.
func JavaScript() string {
	var b strings.Builder
	b.WriteString("// Code generated from internal/describe/words.go by make generate. DO NOT EDIT.\n")
	fmt.Fprintf(&b, "export const owners = ['%s'];\n", strings.Join(Colors, "', '"))
	fmt.Fprintf(&b, "export const reactions = ['%s'];\n", strings.Join(Reactions, "', '"))
	fmt.Fprintf(&b, "export const squares = [...'%s'];\n", string(squares))
	b.WriteString(table("endings", endings) + table("bots", bots))
	for field, text := range reflect.ValueOf(words).Fields() {
		b.WriteString(export(strings.ToLower(field.Name[:1])+field.Name[1:], text.String()))
	}
	return b.String()
}

// table returns the definition of a table of texts.
func table[K cmp.Ordered](name string, texts map[K]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/** @type {Record<string, string>} */\nexport const %s = {\n", name)
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "  %v: '%s',\n", key, texts[key])
	}
	b.WriteString("};\n")
	return b.String()
}

// export returns the definition of a text as a string, or as a function of its parameters.
func export(name, text string) string {
	var types, parameters []string
	var template strings.Builder
	for i, part := range strings.Split(text, "%s") {
		if i > 0 {
			parameter := string(rune('a' + i - 1))
			types = append(types, "@param {string} "+parameter)
			parameters = append(parameters, parameter)
			template.WriteString("${" + parameter + "}")
		}
		template.WriteString(part)
	}
	if len(parameters) == 0 {
		return fmt.Sprintf("export const %s = '%s';\n", name, text)
	}
	return fmt.Sprintf("/** %s */\nexport const %s = (%s) => `%s`;\n",
		strings.Join(types, " "), name, strings.Join(parameters, ", "), template.String())
}
