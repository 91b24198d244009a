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
}

// TestWithVariables: as Kubernetes has it, where "$$" is a dollar sign that begins
// no variable.
func TestWithVariables(t *testing.T) {
	t.Setenv("SLUICE_TEST_SET", "value")
	for argument, want := range map[string]string{
		"/a/$(SLUICE_TEST_SET)/b":                   "/a/value/b",
		"/a/$(SLUICE_TEST_NOT_SET)/$HOME":           "/a/$(SLUICE_TEST_NOT_SET)/$HOME",
		"/a/$$(SLUICE_TEST_SET)":                    "/a/$(SLUICE_TEST_SET)",
		"/a/$$$(SLUICE_TEST_SET)":                   "/a/$value",
		"/a/$$$$(SLUICE_TEST_SET)":                  "/a/$$(SLUICE_TEST_SET)",
		"/a$$b$":                                    "/a$b$",
		"$(SLUICE_TEST_SET)$(SLUICE_TEST_SET)$(SLU": "valuevalue$(SLU",
	} {
		if got := withVariables(argument); got != want {
			t.Errorf("%s: %s, want %s", argument, got, want)
		}
	}
}
