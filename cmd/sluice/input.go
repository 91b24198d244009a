package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"sluice/internal/lint"
	"sluice/internal/manifest"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// inputFlags are the flags of the commands that read manifests: their files, and how they
// are served. These commands read manifests only with load.
type inputFlags struct {
	translateFlags
	watchFlags
	files []string
	// given are all flags of the command.
	given *pflag.FlagSet
}

func (f *inputFlags) add(flags *pflag.FlagSet) {
	f.translateFlags.add(flags)
	f.watchFlags.add(flags)
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "folder, file or - (standard input) with manifests; may be given several times")
	f.given = flags
}

// input is the result of reading manifests, with the options for serving them.
type input struct {
	snapshot.Loaded
	documents []decode.Document
	options   translate.Options
	watch     snapshot.Watch
	// controller and settings are lines for the user: the flags of a Deployment, and the
	// ConfigMap with the settings. Each can be empty.
	controller, settings string
	// problems are those of the Deployment and the ConfigMap.
	problems []model.Problem
}

// load reads the manifests and decides how they are served.
func (f *inputFlags) load(ctx context.Context) (input, error) {
	if _, err := f.options(); err != nil {
		return input{}, usage(err)
	}
	in, err := f.read(ctx)
	if err != nil {
		return input{}, err
	}
	return in, f.decide(&in)
}

// decide sets the options for serving objects: from the command line, else from the
// controller's Deployment among the objects, else the defaults.
func (f *inputFlags) decide(in *input) error {
	by := f.deployed(in)
	if f.configMap == "" && by == "" {
		name, how, problems := lint.FindSettings(in.Objects)
		in.settings, in.problems = how, append(in.problems, problems...)
		f.configMap = name.String()
		if name == (snapshot.Name{}) {
			f.configMap = ""
		}
	}
	if f.RequireConfigMap && f.configMap == "" && by == "" {
		return usage(errRequiredUnnamed)
	}
	options, err := f.options()
	if err != nil {
		return usage(err)
	}
	in.options = options
	in.watch, err = f.watch()
	in.problems = append(in.problems, lint.FindUnlabelled(in.Objects, in.watch)...)
	return usage(err)
}

// options checks the values.
func (f *inputFlags) options() (translate.Options, error) {
	if _, err := f.watch(); err != nil {
		return translate.Options{}, err
	}
	return f.translateFlags.options()
}

// say prints the origin of the flags and the settings.
func (in *input) say(diagnostics io.Writer) {
	for _, line := range []string{in.controller, in.settings} {
		if line != "" {
			fmt.Fprintln(diagnostics, line)
		}
	}
}

// sayUnread prints the errors of reading, and returns one error for all of them, nil for
// none.
func (in *input) sayUnread(diagnostics io.Writer) error {
	all := in.Errors
	for _, note := range in.Notes {
		if note.Field != "" {
			all = append(all, errors.New(note.String()))
		}
	}
	for _, err := range all {
		fmt.Fprintln(diagnostics, "not read:", err)
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(model.Counted(len(all), "error", "errors") + " in the manifests")
}

// read reads the manifests in the given order, each file once.
func (f *inputFlags) read(ctx context.Context) (input, error) {
	var all input
	given, files := map[string]bool{}, manifest.Once{}
	for _, path := range f.files {
		if given[path] {
			return input{}, usage(fmt.Errorf("-f %s: want each once", path))
		}
		given[path] = true
		if _, err := os.Stat(filepath.Join(path, "Chart.yaml")); err == nil {
			return input{}, usage(fmt.Errorf("-f %s: want manifests (got a chart of Helm): give the output of `helm template`", path))
		}
		source, err := manifest.Open(path, slog.New(slog.DiscardHandler))
		if err != nil {
			return input{}, usage(err)
		}
		loaded, err := source.LoadOnce(ctx, files)
		if err != nil {
			return input{}, err
		}
		all.Objects.Append(loaded.Objects)
		all.Notes = append(all.Notes, loaded.Notes...)
		all.Errors = append(all.Errors, loaded.Errors...)
		all.documents = append(all.documents, source.Documents()...)
	}
	return all, nil
}

// validate rejects a command line without manifests.
func (f *inputFlags) validate() error {
	if len(f.files) == 0 {
		return errors.New("-f: want a folder, a file or - (got nothing)")
	}
	return nil
}
