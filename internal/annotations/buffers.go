package annotations

import (
	"fmt"
	"strconv"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// mostBuffers is the maximum size of all buffers for one answer, in bytes.
const mostBuffers = 64 << 20

// Buffers limits the parts of answers and requests in memory and in files.
type Buffers struct {
	Buffering string    `key:"proxy-buffering" from:"proxy-buffering" alone:"true" risk:"low" validate:"oneof=on off" doc:"Whether nginx buffers answers."`
	Size      keys.Size `key:"proxy-buffer-size" from:"proxy-buffer-size" alone:"true" risk:"low" validate:"min=1,max=16777216" doc:"Buffer for the first part of an answer, and the size of the other buffers. All buffers together are at most 64m."`
	Number    int       `key:"proxy-buffers-number" from:"proxy-buffers-number" alone:"true" risk:"low" validate:"min=2,max=1024" doc:"Number of buffers for an answer."`
	Busy      keys.Size `key:"proxy-busy-buffers-size" from:"proxy-busy-buffers-size" alone:"true" risk:"low" validate:"min=1,max=33554432" doc:"Size of the buffers that can be on their way to the client while nginx still reads the answer: from one buffer to all but one. Default: two buffers."`
	TempFile  keys.Size `key:"proxy-max-temp-file-size" from:"proxy-max-temp-file-size" alone:"true" risk:"low" doc:"Largest file for an answer that does not fit the buffers. 0 means no file. A smaller size than a buffer counts as the size of a buffer."`
	Request   string    `key:"proxy-request-buffering" from:"proxy-request-buffering" alone:"true" risk:"low" validate:"oneof=on off" doc:"Whether nginx reads a whole request before it passes it on."`
}

// mend implements mender.
func (b *Buffers) mend(given func(key string) bool) []keys.Fault {
	var faults []keys.Fault
	size := b.Size.Bytes()
	if (given("proxy-buffer-size") || given("proxy-buffers-number")) && int64(b.Number)*size > mostBuffers {
		number, most := strconv.Itoa(b.Number), max(2, int(mostBuffers/size))
		b.Number = most
		faults = append(faults, keys.Fault{
			Key: "proxy-buffers-number", Value: number, Alone: true, Partly: true, Rest: strconv.Itoa(most), Meanwhile: "the number is " + strconv.Itoa(most),
			Want: fmt.Sprintf("at most %d buffers of %s, which is 64m together", most, b.Size),
		})
	}
	if fault := settings.MendBusy(&b.Busy, b.Size, b.Number); fault != nil {
		faults = append(faults, *fault)
	}
	return faults
}

// Print returns the directives that differ from those of the http level.
func (b Buffers) Print(at Place) any {
	general := at.Settings.Proxy
	block := Buffers{Number: b.Number, Size: b.Size, Busy: settings.BusySize(b.Busy, b.Size, b.Number), TempFile: settings.TempFileSize(b.TempFile, b.Size)}
	block.Buffering, block.Request = differs(b.Buffering, general.Buffering), differs(b.Request, general.RequestBuffering)
	block.Busy, block.TempFile = differs(block.Busy, general.BusySize()), differs(block.TempFile, general.TempFileSize())
	if b.Size == general.BufferSize && b.Number == general.BuffersNumber {
		block.Number, block.Size = 0, ""
	}
	if block == (Buffers{}) {
		return nil
	}
	return block
}

// OfAnswers returns the sizes without what a location for subrequests decides itself: whether there
// are buffers at all, for answers and for requests.
func (b Buffers) OfAnswers() Buffers {
	b.Buffering, b.Request = "", ""
	return b
}

// differs returns a value, the zero value if it is the general one.
func differs[T comparable](value, general T) T {
	if value == general {
		var zero T
		return zero
	}
	return value
}
