package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/term"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/server"
)

// program is one run of the client, with its streams, environment and global flags.
type program struct {
	in  io.Reader
	out io.Writer // output of commands; messages go to err
	err io.Writer
	env []string

	store *client.Store
	state string // directory for the games of play --local
	// clock returns the time, by the server's clock once it has answered.
	clock func() time.Time
	// timeout is context.WithTimeout, except in tests.
	timeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// terminal reports whether a stream is a terminal. width returns the number of columns,
	// or 0 for no limit.
	terminal func(stream any) bool
	width    func() int

	flags globalFlags
	// client is the client of the server, or nil before dial. Over SSH, the host closes it.
	client *client.Client
	// over is the SSH session that runs the program, or nil outside SSH.
	over *remote
	// local is the server that play --local started.
	local localServer
	// warned is set once the user has been warned about a clear-text connection.
	warned bool
	// warnings are the lines to show on the first page of the terminal program.
	warnings []string
}

// globalFlags are the flags that all commands share.
type globalFlags struct {
	server, ca string

	tls, json, plain bool
	noAnimation      bool
}

// newProgram returns a program that uses the streams and environment of the process.
func newProgram() *program {
	return &program{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(),
		store: client.DefaultStore(), state: server.StatePath("local"), clock: time.Now, timeout: context.WithTimeout,
		terminal: func(stream any) bool {
			f, ok := stream.(*os.File)
			// Treat a dumb terminal like a file, since its cursor cannot be moved.
			return ok && term.IsTerminal(int(f.Fd())) && (f == os.Stdin || os.Getenv("TERM") != "dumb")
		},
		width: func() int {
			width, _, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0
			}
			return width
		},
	}
}

// run executes a command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	defer p.disconnect()
	cmd, err := usage.Execute(ctx, p.command(), args, p.out, p.err)
	return p.ended(ctx, err, name+": ", strings.TrimSuffix(cmd.CommandPath(), " help")+" --help")
}

// ended returns the exit code of a command that has ended with err, which may be nil, and explains err after
// a prefix. help is a command that explains the usage.
func (p *program) ended(ctx context.Context, err error, prefix, help string) int {
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	if code != exitInterrupted {
		p.message(prefix + p.explain(err))
	}
	if code == exitUsage {
		p.message("Try: " + help)
	}
	return code
}

// getenv returns an environment variable, or an empty string if it is unset.
func (p *program) getenv(key string) string { return uv.Environ(p.env).Getenv(key) }

// columns returns the width of the terminal, or most if output is not a terminal or it is wider.
func (p *program) columns(most int) int {
	if p.terminal(p.out) && p.width() > 0 {
		return min(most, p.width())
	}
	return most
}

// plain reports whether colors are off.
func (p *program) plain() bool { return p.flags.plain || p.getenv("NO_COLOR") != "" }

// ascii reports whether output must have only ASCII characters: with --plain, and on a terminal if the
// locale has another encoding than UTF-8.
func (p *program) ascii() bool {
	locale := strings.ToLower(cmp.Or(p.getenv("LC_ALL"), p.getenv("LC_CTYPE"), p.getenv("LANG")))
	other := locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
	return p.flags.plain || other && p.terminal(p.out)
}

// text formats output. Unlike the screen, JSON always has all characters.
func (p *program) text(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if !p.flags.json && p.ascii() {
		return ui.ASCII(text)
	}
	return text
}

// printf writes data to standard output.
func (p *program) printf(format string, args ...any) error {
	if _, err := io.WriteString(p.out, p.text(format, args...)); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// notef writes a line to standard error.
func (p *program) notef(format string, args ...any) { p.message(p.text(format, args...)) }

// message writes a line to standard error. It does not break the line, so that users can copy commands.
func (p *program) message(text string) { _, _ = io.WriteString(p.err, text+"\n") }

// warnf is like notef. If the terminal program opens, it shows the line again, because its screen
// hides what was written before.
func (p *program) warnf(format string, args ...any) {
	p.notef(format, args...)
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}
