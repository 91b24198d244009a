package requests

import (
	"strconv"
	"strings"

	"sluice/internal/datagram"
)

// record is a number of requests with the same labels and values.
type record struct {
	labels labels
	n      uint64
	// values are in seconds and bytes; those that are not there are negative.
	values [metrics]float64
}

// parts is the number of parts of a line: the number of requests, and those of
// $request_metrics in templates/metrics.tmpl.
const parts = 12

// decode returns the records of a datagram, and the number of requests that the worker could
// not keep. It leaves out lines that it cannot read.
func decode(text []byte) (records []record, lost uint64) {
	lost, rest, ok := datagram.Cut(text)
	if !ok {
		return nil, 0
	}
	// A label has to be UTF-8, and clients choose hosts.
	for line := range strings.SplitSeq(strings.ToValidUTF8(string(rest), "\uFFFD"), "\n") {
		if r, ok := decodeLine(line); ok {
			records = append(records, r)
		}
	}
	return records, lost
}

func decodeLine(line string) (record, bool) {
	found := strings.Split(line, "\t")
	if len(found) != parts {
		return record{}, false
	}
	n, err := strconv.ParseUint(found[0], 10, 64)
	if err != nil {
		return record{}, false
	}
	r := record{n: n, labels: labelsOf(found[1], found[2])}
	r.labels.method, r.labels.status, r.labels.canary = methodOf(found[3]), found[4], found[5]
	sent := number(found[8])
	r.values = [metrics]float64{
		request: number(found[6]), length: number(found[7]), sizeOfResponse: sent, bytesSent: sent,
		connect: ofLastTry(found[9]), header: ofLastTry(found[10]), response: ofLastTry(found[11]),
	}
	return r, true
}

// labelsOf reads $metric_labels, "<host>" or "<host> <namespace>/<ingress>/<service>/<port>", and
// $location_path.
func labelsOf(text, path string) labels {
	host, route, _ := strings.Cut(text, " ")
	l := labels{host: host, path: path}
	if parts := strings.Split(route, "/"); len(parts) == 4 {
		l.namespace, l.ingress, l.service = parts[0], parts[1], parts[2]
	}
	return l
}

// otherMethod stands for all methods that are not common, because a client can make up as many
// as it likes.
const otherMethod = "OTHER"

func methodOf(text string) string {
	switch text {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
		"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK":
		return text
	}
	return otherMethod
}

// number reads a value, -1 if there is none.
func number(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value < 0 {
		return -1
	}
	return value
}

// ofLastTry reads the value of the last try at a backend: nginx separates tries by ", ", and
// by " : " after an internal redirect. "-" is a try without the value.
func ofLastTry(text string) float64 { return number(text[strings.LastIndexByte(text, ' ')+1:]) }
