package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/test/kit"
	"sluice/test/pages"
)

// Runner does what a page says.
type Runner struct {
	Page *pages.Page
	// Folder is a copy of the checkout, which the commands begin in.
	Folder string
	Shell  *Shell
	// Manifests holds a block of YAML to what a cluster and Sluice say of it; nil
	// where pages have none.
	Manifests func(b pages.Block) error
	// After is called when a command has ended; nil where nobody wants to know.
	After func()

	faults []pages.Fault
}

// pause is the time between two tries of a command that must succeed eventually.
const pause = 100 * time.Millisecond

// errFailed is the error of a command that later ones may need, which then would wait for
// it in vain. Its fault is known.
var errFailed = errors.New("a command failed")

// Run does all that a page says, in its order, and gives what is not as the page
// says. A page goes on after a fault, unless its shell is gone or a command of a block of
// sh failed.
func (r *Runner) Run() []pages.Fault {
	for _, b := range r.Page.Blocks {
		if b.Marks.NotRun != "" {
			continue
		}
		err := r.block(b)
		if err != nil && !errors.Is(err, errFailed) {
			r.fault(b.Line, "%v", err)
		}
		if err != nil {
			break
		}
	}
	return r.faults
}

func (r *Runner) fault(line int, format string, arguments ...any) {
	r.faults = append(r.faults, pages.Fault{Path: r.Page.Path, Line: line, Text: fmt.Sprintf(format, arguments...)})
}

// block gives an error where the page cannot go on.
func (r *Runner) block(b pages.Block) error {
	if b.Marks.File != "" {
		path := filepath.Join(r.Folder, b.Marks.File)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(b.Text+"\n"), 0o644); err != nil {
			return err
		}
	}
	if b.Language == "yaml" && r.Manifests != nil {
		if err := r.Manifests(b); err != nil {
			r.fault(b.Line, "%v", err)
		}
	}
	if b.Marks.OutputOf != "" {
		return r.outputOf(b)
	}
	commands := b.Commands()
	for i, c := range commands {
		if b.Marks.Background {
			if err := r.background(b, c); err != nil {
				return err
			}
			continue
		}
		status := 0
		if i == len(commands)-1 {
			status = b.Marks.Status
		}
		if err := r.command(b, c, status); err != nil {
			return err
		}
	}
	return nil
}

// command runs one command until it ends as it should, which is at once unless
// the page says that it takes a while.
func (r *Runner) command(b pages.Block, c pages.Command, want int) error {
	for deadline := time.Now().Add(kit.Patience); ; time.Sleep(pause) {
		printed, status, err := r.Shell.Run(c.Text)
		if r.After != nil {
			r.After()
		}
		if err != nil {
			return fmt.Errorf("$ %s\n%w; it printed:\n%s", c.Text, err, printed)
		}
		wrong := ""
		if status != want {
			wrong = fmt.Sprintf("its status is %d, and not %d", status, want)
		} else if b.Language == "console" {
			wrong = Differs(c.Shown, printed)
		}
		if wrong == "" {
			return nil
		}
		if !b.Marks.Eventually || time.Now().After(deadline) {
			r.fault(c.Line, "$ %s\n%s; it printed:\n%s", c.Text, wrong, printed)
			if b.Language == "sh" {
				return errFailed
			}
			return nil
		}
	}
}

// background starts a command and waits until it is ready.
func (r *Runner) background(b pages.Block, c pages.Command) error {
	started, err := r.Shell.Start(c.Text)
	if err != nil {
		return err
	}
	wrong := ""
	for deadline := time.Now().Add(kit.Patience); ; time.Sleep(pause) {
		if wrong, err = r.ready(b, c, started.Printed()); wrong == "" || err != nil {
			return err
		}
		if started.Ended() || time.Now().After(deadline) {
			r.fault(c.Line, "$ %s\nit has ended, or is not ready: %s; it printed:\n%s", c.Text, wrong, started.Printed())
			return nil
		}
	}
}

// ready says why a command in the background is not ready yet.
func (r *Runner) ready(b pages.Block, c pages.Command, printed string) (why string, err error) {
	if b.Marks.Ready == "" {
		return Holds(c.Shown, printed), nil
	}
	said, status, err := r.Shell.Run(b.Marks.Ready)
	if err != nil || status == 0 {
		return "", err
	}
	return fmt.Sprintf("the status of %s is %d: %s", b.Marks.Ready, status, said), nil
}

// outputOf looks for a block in what a command prints.
func (r *Runner) outputOf(b pages.Block) error {
	printed, status, err := r.Shell.Run(b.Marks.OutputOf)
	if err != nil {
		return err
	}
	wrong := Holds(strings.Split(b.Text, "\n"), printed)
	if status != b.Marks.Status {
		wrong = fmt.Sprintf("its status is %d", status)
	}
	if wrong != "" {
		r.fault(b.Line, "$ %s\n%s; it printed:\n%s", b.Marks.OutputOf, wrong, printed)
	}
	return nil
}
