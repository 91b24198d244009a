package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/pflag"

	"sluice/internal/manifest"
	"sluice/internal/snapshot"
)

// inputFlags say where manifests are read.
type inputFlags struct{ files []string }

func (f *inputFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "folder, file or - (standard input) with manifests; may be given several times")
}

// input is what was read.
type input struct {
	snapshot.Loaded
	documents []snapshot.Document
}

// read reads all of them, in the order in which they are given.
func (f *inputFlags) read(ctx context.Context) (input, error) {
	var all input
	seen := map[string]bool{}
	for _, path := range f.files {
		if seen[path] {
			return input{}, usage(fmt.Errorf("-f %s: want each once", path))
		}
		seen[path] = true
		source, err := manifest.Open(path, slog.New(slog.DiscardHandler))
		if err != nil {
			return input{}, usage(err)
		}
		loaded, err := source.Load(ctx)
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

// validate refuses a command line that names nothing to read.
func (f *inputFlags) validate() error {
	if len(f.files) == 0 {
		return errors.New("-f: want a folder, a file or - (got nothing)")
	}
	return nil
}
