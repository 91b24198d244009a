// Package sift finds those that nginx refuses among suspects of one kind: Ingresses, groups
// of settings, TCP and UDP services.
//
// It takes a Kind, which tests a file with some of the suspects. The results are those that
// nginx takes together, those that it refuses, and those that were not reached. The package
// is pure: the Kind calls nginx, and ends a search that takes too long.
package sift

import (
	"errors"
	"regexp"
	"slices"

	"sluice/internal/nginx"
	"sluice/internal/render"
)

// Kind is what a search knows of its suspects.
type Kind[T any] struct {
	// Test has nginx test what would be served with these suspects and no others, and
	// returns the file. An error that is no refusal ends the search.
	Test func(with []T) (*render.File, error)
	// Without tests the same without any suspect. It is called once, for the first one that
	// is refused alone: if that fails too, no suspect is to blame, and the search ends. nil
	// stands for a test that passes.
	Without func(refused T) error
	// Wrote reports whether a suspect wrote the lines of an origin.
	Wrote func(T, render.Origin) bool
	// Enough ends the search early; nil means never.
	Enough func(tests, refused int) bool
}

// Result is what a search found. Each suspect is in one of the three lists.
type Result[T any] struct {
	Taken   []T
	Refused []Refused[T]
	// Rest was not reached. Group is how many of it to test together next.
	Rest  []T
	Group int
}

// Refused is a suspect that nginx refuses, with its message.
type Refused[T any] struct {
	Suspect T
	Text    string
}

// ofTheLine matches errors of what somebody wrote. Others may be of the machine.
var ofTheLine = regexp.MustCompile(`^(pcre2?_compile\(\) failed|invalid |unknown )`)

// Sift tests suspects in groups, the first of a given size. It adds groups to what nginx
// took: so of suspects that only fail together, the last one is refused. The group after
// one that passed is twice as large. A refused group is halved, after a test of the suspect
// that nginx named. An error that may pass, such as "too many open files", counts if it comes
// twice.
//
// The error is that of a test that decided nothing. The result is valid also then.
func (k Kind[T]) Sift(suspects []T, group int) (r Result[T], err error) {
	r.Rest, r.Group = slices.Clone(suspects), max(group, 1)
	named, again := -1, false
	for tests := 0; len(r.Rest) > 0 && (k.Enough == nil || !k.Enough(tests, len(r.Refused))); tests++ {
		r.Group = min(r.Group, len(r.Rest))
		from, to := 0, r.Group
		if named >= 0 {
			from, to = named, named+1
		}
		added := r.Rest[from:to:to]
		file, err := k.Test(append(slices.Clip(r.Taken), added...))
		refused := RefusalOf(err)
		switch {
		case err == nil && named >= 0:
			named = -1 // not alone: its turn comes by age
		case err == nil:
			r.Taken, r.Rest, r.Group = append(r.Taken, added...), r.Rest[r.Group:], 2*r.Group
		case refused == nil:
			return r, err
		case len(added) > 1:
			named, r.Group = k.named(file, refused, added), (r.Group+1)/2
		case !again && !ofTheLine.MatchString(refused.Text):
			again = true
			continue
		default:
			if err := k.without(added[0], len(r.Refused)); err != nil {
				return r, err
			}
			r.Refused, r.Rest = append(r.Refused, Refused[T]{added[0], refused.Text}), slices.Delete(r.Rest, from, to)
			named = -1
		}
		again = false
	}
	return r, nil
}

// without tests the same without any suspect, before the first one is refused.
func (k Kind[T]) without(suspect T, refused int) error {
	if refused > 0 || k.Without == nil {
		return nil
	}
	return k.Without(suspect)
}

// named returns the index of the first suspect that nginx named, -1 for none.
func (k Kind[T]) named(file *render.File, refused *nginx.TestError, among []T) int {
	all := Named(file, refused, func(o render.Origin) (int, bool) {
		at := slices.IndexFunc(among, func(suspect T) bool { return k.Wrote(suspect, o) })
		return at, at >= 0
	})
	if len(all) == 0 {
		return -1
	}
	return slices.Min(all)
}

// RefusalOf returns the refusal in an error, nil if nginx was not asked or took the file.
func RefusalOf(err error) *nginx.TestError {
	var refused *nginx.TestError
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}
