package usage

import (
	"testing"
	"time"

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
	set.Duration("after", 90*time.Minute, "time without a move after which a game ends; one that only bots play is paused")
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
  --after duration  (default 1h30m)
        time without a move after which a game ends; one that only bots play is
        paused
  --bot names
        names of bots
`, flagHelp(set))
}
