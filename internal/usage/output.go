package usage

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// output is a writer that remembers its first error, which cobra ignores when it prints help.
type output struct {
	to  io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
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
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("output: %w", out.err)
	}
	return cmd, err
}
