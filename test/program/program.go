// Package program writes programs that a test runs.
package program

import (
	"os"
	"syscall"
	"testing"
)

// Write writes a program, such as a script with its #! line, to a path.
//
// Linux refuses to run a file that is open for writing ("text file busy", execve(2)). A process that another
// goroutine starts at this moment has the open file until it runs its own program. So none may start until
// the file is closed (syscall.ForkLock, https://go.dev/issue/22315).
func Write(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
