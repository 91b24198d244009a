package debug

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

// problems answers with the current Problems. With SinceParam, it waits until they differ
// from those that the client has.
func (q *question) problems() (body, error) {
	since, wait, err := q.values.since()
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(wait)
	for {
		found, err := q.foundProblems()
		if err != nil || since == "" {
			return jsonList[model.Problem](found), err
		}
		var text bytes.Buffer
		if err := (jsonList[model.Problem](found)).write(&text); err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(text.Bytes()); hex.EncodeToString(sum[:]) != since || !q.awaitProblems(end) {
			return jsonList[model.Problem](found), nil
		}
	}
}

// lookEach is the time between two looks at the published state.
const lookEach = 100 * time.Millisecond

// awaitProblems waits until the Problems may have changed, and takes that state. It returns
// false at the end of the time, or if the client has gone.
func (q *question) awaitProblems(end time.Time) bool {
	look := time.NewTicker(lookEach)
	defer look.Stop()
	for time.Now().Before(end) {
		select {
		case <-q.ctx.Done():
			return false
		case <-look.C:
		}
		if now := q.State(); now != nil && now != q.state {
			same := model.SameProblems(now.Problems, q.state.Problems)
			if q.state = now; !same {
				return true
			}
		}
	}
	return false
}

// foundProblems returns the Problems that are asked for.
func (q *question) foundProblems() ([]model.Problem, error) {
	if q.state.Snapshot == nil {
		return nil, refusal{http.StatusServiceUnavailable, fmt.Sprintf("the objects were not read yet: %v", missing(q.Ready()))}
	}
	namespace, ofNamespace, err := q.values.namespace()
	if err != nil {
		return nil, err
	}
	ingress, ofIngress, err := q.values.ingress()
	if err != nil {
		return nil, err
	}
	problems := slices.DeleteFunc(slices.Clone(q.state.Problems), func(p model.Problem) bool {
		return ofNamespace && p.Object.Namespace != namespace || ofIngress && p.Object != ingress
	})
	if ofIngress && len(problems) == 0 && q.values[debugapi.SinceParam] == "" && q.state.Snapshot.IngressOf(ingress) == nil {
		return nil, q.noIngress(ingress)
	}
	return problems, nil
}

// sumPattern matches a SHA-256 in hexadecimal.
var sumPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// since returns the parameters of a client that waits; since is empty if it does not.
func (p parameters) since() (since string, wait time.Duration, err error) {
	since, given := p[debugapi.SinceParam]
	if given && !sumPattern.MatchString(since) {
		return "", 0, p.wrong(debugapi.SinceParam, "the SHA-256 of the answer before in hexadecimal")
	}
	text, waits := p[debugapi.WaitParam]
	seconds, err := strconv.Atoi(text)
	switch {
	case !waits && !given:
		return "", 0, nil
	case waits != given:
		return "", 0, refusal{http.StatusBadRequest, fmt.Sprintf("want %s and %s together", debugapi.SinceParam, debugapi.WaitParam)}
	case err != nil || seconds < 1 || seconds > debugapi.MostWait:
		return "", 0, p.wrong(debugapi.WaitParam, fmt.Sprintf("seconds from 1 to %d", debugapi.MostWait))
	}
	return since, time.Duration(seconds) * time.Second, nil
}
