package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// mostBody is the longest review, in bytes. The API server takes objects of 3 MiB at most, and
	// sends the stored form too.
	mostBody = 9 << 20
	// mostSmall is the longest small review, in bytes. Small reviews never wait for large ones.
	mostSmall = 64 << 10
	// copies is how often a body is in memory: as it came, in parts, and decoded.
	copies = 3
	// mostInMemory bounds the memory of large reviews, in bytes, mostInSmall that of small ones.
	mostInMemory = 2 * copies * mostBody
	mostInSmall  = 16 << 20
	// mostTransfer is how long a body may take, and its first mostSmall bytes.
	mostTransfer = 2 * time.Second
)

// read reads a body, with memory for what has arrived: for a large one only once its first mostSmall
// bytes are there. The function returns the memory. The error is a *failure.
func (s *Server) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	if r.ContentLength > mostBody {
		return nil, func() {}, tooLong()
	}
	control := http.NewResponseController(w) // a writer without deadlines is one of tests
	_ = control.SetReadDeadline(time.Now().Add(s.transfer))
	defer func() {
		if err == nil { // otherwise the server waits for the rest
			_ = control.SetReadDeadline(time.Time{}) // or its end would end the review
		}
	}()
	limited := http.MaxBytesReader(w, r.Body, mostBody)
	body, held, whole, err := s.begin(ctx, limited)
	if err != nil || whole {
		return body, func() { s.small.memory.Release(held) }, err
	}
	size := r.ContentLength
	if size < 0 {
		size = mostBody
	}
	if s.large.memory.Acquire(ctx, copies*size) != nil {
		return body, func() { s.small.memory.Release(held) }, errBusy
	}
	_ = control.SetReadDeadline(time.Now().Add(s.transfer))
	rest := bytes.NewBuffer(append(make([]byte, 0, size+bytes.MinRead), body...))
	s.small.memory.Release(held)
	if _, err = rest.ReadFrom(limited); err != nil {
		err = transferred(err)
	}
	return rest.Bytes(), func() { s.large.memory.Release(copies * size) }, err
}

// begin reads the first mostSmall bytes, and reports whether they are the whole body. held is the
// memory for them, also with an error.
func (s *Server) begin(ctx context.Context, r io.Reader) (body []byte, held int64, whole bool, err error) {
	for size := 4 << 10; size <= mostSmall; size *= 2 {
		if s.small.memory.Acquire(ctx, copies*int64(size)-held) != nil {
			return nil, held, false, errBusy
		}
		held = copies * int64(size)
		more, err := io.ReadAll(io.LimitReader(r, int64(size-len(body))))
		body = append(body, more...)
		if err != nil {
			return nil, held, false, transferred(err)
		}
		if len(body) < size {
			return body, held, true, nil
		}
	}
	return body, held, false, nil
}

// errBusy is the failure of a body for which there is no memory. What was read of a large one is
// returned with it.
var errBusy = &failure{http.StatusServiceUnavailable, "other reviews use all the memory for reviews; try again"}

func tooLong() error {
	return &failure{http.StatusRequestEntityTooLarge, fmt.Sprintf("want at most %d bytes", mostBody)}
}

// transferred is the failure of a body that did not arrive.
func transferred(err error) error {
	if long := (*http.MaxBytesError)(nil); errors.As(err, &long) {
		return tooLong()
	}
	return &failure{http.StatusBadRequest, "the review did not arrive whole"}
}
