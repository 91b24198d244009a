package pages

import (
	"fmt"
	"strconv"
	"strings"
)

// Marks are what the comments just before a block say about it. Readers of the
// page do not see them.
type Marks struct {
	// NotRun is why the block is not run. Such reasons are listed in
	// exceptions_test.go.
	NotRun string
	// Background says that the command goes on until the end of the page. It is
	// ready when it has printed what is shown, or when Ready succeeds.
	Background bool
	Ready      string
	// Status is the exit status of the last command of the block.
	Status int
	// Eventually says that the commands are tried until they print what is shown:
	// a reader types slower than a test does.
	Eventually bool
	// File is where a reader is told to save the block.
	File string
	// OutputOf is the command whose output has the block in it.
	OutputOf string
	// PartOf is the kind of object that the block is a part of, or "values" for
	// values of the chart.
	PartOf string
	// Finding is the reason of what `sluice lint` finds wrong with the block, which
	// is there to be wrong.
	Finding string
}

func (m Marks) any() bool { return m != Marks{} }

// add takes what one comment says. A comment that does not begin as a mark does
// is not known.
func (m *Marks) add(said string) (known bool, err error) {
	name, value, _ := strings.Cut(said, ":")
	value = strings.TrimSpace(value)
	switch name {
	case "not run":
		m.NotRun = value
	case "background":
		m.Background = true
		return true, nil
	case "background, ready when":
		m.Background, m.Ready = true, value
	case "eventually":
		m.Eventually = true
		return true, nil
	case "status":
		m.Status, err = strconv.Atoi(value)
	case "file":
		m.File = value
	case "output of":
		m.OutputOf = value
	case "part of":
		m.PartOf = value
	case "finding":
		m.Finding = value
	default:
		return false, nil
	}
	if value == "" {
		err = fmt.Errorf("%q wants a value", name+":")
	}
	return true, err
}

// fit says which mark means nothing for blocks of a language, and which one is
// missing.
func (m Marks) fit(language string) error {
	if m.NotRun != "" {
		return nil
	}
	commands := language == "sh" || language == "console"
	switch {
	case !commands && (m.Background || m.Eventually || m.Status != 0):
		return fmt.Errorf("a block of the language %q has no commands", language)
	case (m.PartOf != "" || m.Finding != "") && language != "yaml":
		return fmt.Errorf("only yaml can be a part of an object, or have findings")
	case m.File != "" && commands:
		return fmt.Errorf("commands are run, and not saved as %s", m.File)
	case (language == "nginx" || language == "json") && m.OutputOf == "" && m.File == "":
		return fmt.Errorf("nobody knows where this comes from: say <!-- output of: COMMAND --> or <!-- file: NAME --> before it")
	}
	return nil
}
