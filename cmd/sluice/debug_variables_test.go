package main

import (
	"path/filepath"
	"testing"
)

// A state directory is taken as an argument of the container says it.
func TestDebugGetFillsInVariables(t *testing.T) {
	stateDir := answering(t, map[string]string{"/general": "{}\n"})
	t.Setenv("SLUICE_TEST_HOME", filepath.Dir(stateDir))
	argument := "$(SLUICE_TEST_HOME)/" + filepath.Base(stateDir)
	if status, out, said := execute("sluice", "debug", "get", "/general", "--state-dir", argument); status != 0 || out != "{}\n" {
		t.Errorf("%d %q %q", status, out, said)
	}
	if got, want := withVariables("/a/$(SLUICE_TEST_NOT_SET)/$HOME"), "/a/$(SLUICE_TEST_NOT_SET)/$HOME"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
