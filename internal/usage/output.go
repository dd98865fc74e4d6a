package usage

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// output is a writer that remembers the first error of printing help, which cobra ignores.
type output struct {
	to  io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("output: %w", err)
	}
	return n, err
}

// Execute runs a command line with root, which has all its commands, and returns the command that ran
// and its error, or that of writing the output. For arguments that do not match the command's Use (see Args),
// and for help with unknown commands, it returns an *Error.
func Execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) (*cobra.Command, error) {
	out := &output{to: stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	strict(root)
	if help, _, err := root.Find([]string{"help"}); err == nil && help != root {
		help.Args = topic
	}
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if out.err = noCommand(cmd); out.err == nil { // cobra does not check the arguments beside --help
			help(cmd, args)
		}
	})
	cmd, err := root.ExecuteContextC(ctx)
	return cmd, cmp.Or(err, out.err)
}
