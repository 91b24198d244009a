package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/internal/keys"
)

// onlyFlags rejects arguments. instead names the flag to use, if there is one.
func onlyFlags(instead string) cobra.PositionalArgs {
	return func(_ *cobra.Command, arguments []string) error {
		switch {
		case len(arguments) == 0:
			return nil
		case slices.Contains([]string{"true", "false"}, arguments[0]):
			return fmt.Errorf("want flags alone (got %q): a flag gets its value by =, such as --metrics-per-host=false", strings.Join(arguments, " "))
		case instead == "":
			return fmt.Errorf("want no arguments (got %q)", strings.Join(arguments, " "))
		}
		return fmt.Errorf("want flags alone (got %q): %s", strings.Join(arguments, " "), instead)
	}
}

// wantArguments rejects fewer or more arguments. want describes them.
func wantArguments(least, most int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, arguments []string) error {
		switch n := len(arguments); {
		case n >= least && n <= most:
			return nil
		case n == 0:
			return fmt.Errorf("want %s (got nothing)", want)
		}
		return fmt.Errorf("want %s (got %q)", want, strings.Join(arguments, " "))
	}
}

// otherwise maps names that users may try to flags.
var otherwise = map[string]string{"f": "manifests", "filename": "manifests", "namespace": "watch-namespace", "n": "watch-namespace"}

// flagError improves an error of pflag: it suggests a flag for an unknown one, and a valid
// value for another one.
func flagError(command *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &wrong):
		return wrongValue(wrong.GetFlag(), wrong.GetValue())
	case errors.As(err, &unknown):
		return fmt.Errorf("%w%s", err, keys.DidYouMean(meantFlag(command.Flags(), unknown.GetSpecifiedName())))
	}
	return err
}

// meantFlag returns the flag closest to a name, with its dashes; "" for none.
func meantFlag(flags *pflag.FlagSet, name string) string {
	meant := otherwise[name]
	if flags.Lookup(meant) == nil {
		var names []string
		flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		meant = keys.NewNames(names).Nearest(name)
	}
	if meant == "" {
		return ""
	}
	return "--" + meant
}

// wanted describes the values of flags, by their types.
var wanted = map[string]string{
	"bool": "true or false", "int": "a whole number", "float32": "a number", "float64": "a number", "duration": "a duration such as 30s",
}

// wrongValue is the error of a value that is not of the flag's type.
func wrongValue(flag *pflag.Flag, value string) error {
	return fmt.Errorf("--%s: want %s (got %q)", flag.Name, cmp.Or(wanted[flag.Value.Type()], "another value"), value)
}
