package program

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestWrite runs many programs just after they were written, while others start.
func TestWrite(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of sh")
	}
	folder, failed := t.TempDir(), make(chan error)
	const writers, programs = 8, 100
	for writer := range writers {
		go func() {
			for number := range programs {
				path := filepath.Join(folder, fmt.Sprint(writer, "-", number))
				Write(t, path, "#!/bin/sh\n")
				if err := exec.Command(path).Run(); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for range writers {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}
