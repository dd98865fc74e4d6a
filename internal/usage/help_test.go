package usage

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlagHelp(t *testing.T) {
	t.Parallel()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	set.SortFlags = false
	set.String("listen", ":2048", "`address` to serve on")
	set.String("cert", "", "`file` with the certificate")
	set.Bool("verbose", false, "print more")
	set.BoolP("quiet", "q", false, "print less")
	set.Duration("after", 168*time.Hour, "time without a move after which a game ends; one that only bots play is paused")
	set.StringSlice("bot", nil, "`names` of bots")
	set.Int("idle", 0, "for tests")
	require.NoError(t, set.MarkHidden("idle"))
	for _, name := range []string{"listen", "cert"} {
		SetVariable(set.Lookup(name), Prefix+name)
	}
	assert.Equal(t, `  --listen address  (default :2048; GRIDSTAND_listen)
        address to serve on
  --cert file  (default none; GRIDSTAND_cert)
        file with the certificate
  --verbose
        print more
  -q, --quiet
        print less
  --after duration  (default 168h)
        time without a move after which a game ends; one that only bots play is
        paused
  --bot names
        names of bots
`, flagHelp(set))
}

// Ensure that the layout applies to a command's own flags and to those it inherits.
func TestLayout(t *testing.T) {
	t.Parallel()
	root, below := &cobra.Command{Use: "program"}, &cobra.Command{Use: "below", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(below)
	root.PersistentFlags().String("server", "", "the `address`")
	below.Flags().Int("games", 100, "concurrent games")
	Layout(root)
	help := below.UsageString()
	assert.Contains(t, help, "\nFlags:\n  --games int  (default 100)\n        concurrent games\n")
	assert.Contains(t, help, "\nGlobal Flags:\n  --server address\n        the address\n")
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for long, short := range map[string]string{
		"168h0m0s": "168h", "1h30m0s": "1h30m", "10m0s": "10m", "30s": "30s", "1h0m5s": "1h0m5s", "": "", "info": "info",
	} {
		assert.Equal(t, short, shorten(long))
	}
}
