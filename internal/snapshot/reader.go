package snapshot

import (
	"crypto/sha256"
	"errors"
)

// Reader reads one version of a file after the other. A document that was there
// before, byte for byte, gives the same pointers as before: an edit in a file
// of 10,000 objects makes one new object. It only remembers; what it returns is
// what FromYAML returns. The zero value is ready. It is not safe for concurrent
// use.
type Reader struct {
	// before holds the objects of the documents of the last version that gave
	// neither an error nor a note.
	before map[[sha256.Size]byte]Objects
}

// Read is FromYAML.
func (r *Reader) Read(name string, data []byte) (Objects, []Note, error) {
	var all batch
	docs := documents(data)
	now := make(map[[sha256.Size]byte]Objects, len(docs))
	for _, doc := range docs {
		sum := sha256.Sum256(doc.text)
		objects, known := r.before[sum]
		if !known {
			var one batch
			one.document(name, doc)
			all.notes, all.errs = append(all.notes, one.notes...), append(all.errs, one.errs...)
			objects, known = one.objects, len(one.notes)+len(one.errs) == 0
		}
		if known {
			now[sum] = objects
		}
		all.objects.Append(objects)
	}
	r.before = now
	return all.objects, all.notes, errors.Join(all.errs...)
}
