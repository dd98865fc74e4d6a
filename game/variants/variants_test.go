package variants_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/variants"
)

// Ensure that variants are complete and different, and in the order of their display.
func TestAll(t *testing.T) {
	t.Parallel()
	var ids []string
	titles := map[string]bool{}
	for _, v := range variants.All() {
		// IDs are typed on the command line and are part of keys and file names.
		assert.Regexp(t, `^[a-z0-9]{1,16}$`, v.ID)
		assert.Falsef(t, titles[v.Title], "two variants with the title %s", v.Title)
		ids, titles[v.Title] = append(ids, v.ID), true

		assert.NotEmpty(t, v.Title, v.ID)
		assert.NotEmpty(t, v.Summary, v.ID)
		assert.LessOrEqual(t, len([]rune(v.Summary)), 76, "the summary of %s takes more than a line", v.ID)
		for _, text := range []string{v.Summary, v.Manual} {
			assert.NotContains(t, text, "\n", v.ID)
			assert.True(t, strings.HasSuffix(text, "."), "%s: %q is not a sentence", v.ID, text)
		}
		assert.NotZero(t, v.Kind, v.ID)
		assert.NotEmpty(t, v.Bots, v.ID) // TestBots_Play of package bot plays with each.
		assert.Positive(t, v.Seats, v.ID)
		assert.Positive(t, v.Revision, v.ID)

		require.NotNil(t, v.Rules, v.ID)
	}
	assert.Equal(t, []string{"classic", "twos", "restless", "vt100", "3x3", "5x5", "6x6", "tribolo"}, ids)
	variants.All()[0].ID = "mine"
	assert.Equal(t, "classic", variants.All()[0].ID, "a caller cannot change the list")
}
