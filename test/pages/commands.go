package pages

import (
	"os/exec"
	"regexp"
	"strings"
)

// Command is one command of a page.
type Command struct {
	Line int
	Text string
	// Shown is what the page says that it prints; nil where it says nothing.
	Shown []string
}

// Commands are those of a block of the language sh or console.
func (b Block) Commands() []Command {
	switch b.Language {
	case "sh":
		return script(b)
	case "console":
		return console(b)
	}
	return nil
}

// script cuts the text into commands: a line each, or several where bash says
// that one does not end yet.
func script(b Block) []Command {
	var commands []Command
	var open *Command
	for i, line := range strings.Split(b.Text, "\n") {
		switch {
		case open != nil:
			open.Text += "\n" + line
		case strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
			continue
		default:
			open = &Command{Line: b.Line + i, Text: line}
		}
		if !unfinished(open.Text) {
			commands = append(commands, *open)
			open = nil
		}
	}
	if open != nil { // bash will say what is missing
		commands = append(commands, *open)
	}
	return commands
}

// more is how bash says that a command goes on. That of a here-document is a
// warning.
var more = regexp.MustCompile(`unexpected end of file|unexpected EOF|delimited by end-of-file`)

func unfinished(text string) bool {
	if strings.HasSuffix(text, `\`) {
		return true
	}
	said, _ := exec.Command("bash", "-n", "-c", text).CombinedOutput()
	return more.Match(said)
}

// console reads what a terminal shows: "$ " and a command, "> " and how it goes
// on, and what was printed. What begins with "# " before a command explains it.
func console(b Block) []Command {
	lines := strings.Split(b.Text, "\n")
	var commands []Command
	for i, line := range lines {
		last := len(commands) - 1
		text, prompted := strings.CutPrefix(line, "$ ")
		continued, goesOn := strings.CutPrefix(line, "> ")
		switch {
		case prompted:
			commands = append(commands, Command{Line: b.Line + i, Text: text})
		case last < 0 || explains(lines[i:]):
			continue
		case goesOn && commands[last].Shown == nil:
			commands[last].Text += "\n" + continued
		default:
			commands[last].Shown = append(commands[last].Shown, line)
		}
	}
	for i := range commands {
		commands[i].Shown = TrimBlank(commands[i].Shown)
	}
	return commands
}

// explains says whether these lines begin with a comment that belongs to the
// next command, or with the blank line before one.
func explains(lines []string) bool {
	for _, line := range lines {
		if strings.HasPrefix(line, "$ ") {
			return true
		}
		if line != "" && !strings.HasPrefix(line, "# ") {
			return false
		}
	}
	return false
}

// TrimBlank leaves out blank lines at the end.
func TrimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
