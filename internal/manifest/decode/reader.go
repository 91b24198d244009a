package decode

import (
	"crypto/sha256"
	"errors"

	"sluice/internal/snapshot"
)

// Reader reads the versions of a file one after the other. It returns the same as
// FromYAML, but an unchanged document keeps its pointers: an edit in a file of 10,000
// objects makes one new object. The zero value is ready. It is not safe for concurrent
// use.
type Reader struct {
	// Namespace is that of objects without one; empty for the default.
	Namespace string
	// Each calls do with 0 to n-1, and returns when all calls have returned. Calls may be
	// concurrent. Nil means one after the other.
	Each func(n int, do func(i int))
	// before holds the objects of each document of the last version that had neither an
	// error nor a note.
	before map[[sha256.Size]byte]*snapshot.Objects

	// The name of the last version, and the line and the objects of each document.
	name  string
	lines []int
	given []*snapshot.Objects
}

// Document is a document of a file with its objects.
type Document struct {
	File string
	// Number counts the documents of the file that have content, from 1.
	Number int
	// Line is the line of the file where its content begins, from 1.
	Line    int
	Objects *snapshot.Objects
}

// Documents returns the documents of the last version, including those with errors.
// Callers must not modify the objects.
func (r *Reader) Documents() []Document {
	all := make([]Document, len(r.lines))
	for i, line := range r.lines {
		all[i] = Document{File: r.name, Number: i + 1, Line: line, Objects: r.given[i]}
	}
	return all
}

// Read reads the next version of the file. It returns the same as FromYAML.
func (r *Reader) Read(name string, data []byte) (snapshot.Objects, []snapshot.Note, error) {
	docs := documents(data)
	sums, known, batches := make([][sha256.Size]byte, len(docs)), make([]*snapshot.Objects, len(docs)), make([]*batch, len(docs))
	r.each(len(docs), func(i int) {
		sums[i] = sha256.Sum256(docs[i].text)
		if known[i] = r.before[sums[i]]; known[i] == nil {
			batches[i] = &batch{namespace: r.Namespace}
			batches[i].document(name, docs[i])
			known[i] = &batches[i].objects
		}
	})
	r.name, r.given, r.lines = name, known, make([]int, len(docs))
	var all batch
	r.before = make(map[[sha256.Size]byte]*snapshot.Objects, len(docs))
	for i, b := range batches {
		r.lines[i] = docs[i].contentLine()
		all.objects.Append(*known[i])
		if b != nil {
			all.notes, all.errs = append(all.notes, b.notes...), append(all.errs, b.errs...)
		}
		if b == nil || len(b.notes)+len(b.errs) == 0 {
			r.before[sums[i]] = known[i]
		}
	}
	return all.objects, all.notes, errors.Join(all.errs...)
}

func (r *Reader) each(n int, do func(i int)) {
	if r.Each != nil {
		r.Each(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}
