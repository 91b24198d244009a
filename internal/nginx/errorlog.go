package nginx

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// grave is a line of the error log that may explain why nginx refuses a file.
type grave struct {
	Level string // one of levels
	PID   int
	Text  string
}

// levels are those of the lines that may say why, the gravest first.
var levels = []string{"emerg", "alert", "crit", "error"}

// requestLog tells the workers where they are to log, in place of the master's
// file: it is the first of the ExtraFiles. What a request has a worker log can
// look like a line of the master, as nginx escapes nothing there.
// See rootfs/etc/nginx/lua/sluice/requestlog.lua.
const requestLog = "SLUICE_REQUEST_LOG=3"

// Pass copies what workers log of requests, each line by one write, until all
// processes that hold the other end have ended. Nothing is concluded from it.
func Pass(r io.ReadCloser, out io.Writer) { (&errorLog{out: out, forgeable: true}).follow(r) }

// errorLog passes nginx's error log on and keeps the last grave lines: those of
// the two gravest levels, and all of the master, which says little. Workers'
// errors are not kept, so a flood of them pushes nothing out.
type errorLog struct {
	out io.Writer
	// master is the pid of the master; set before the first line is read.
	master int
	// forgeable is set if requests decide what is written: then nothing is kept.
	forgeable bool
	// read is closed when all of the log was read; nil where nobody waits for that.
	read chan struct{}

	mu    sync.Mutex
	count int // grave lines so far
	last  []grave
}

const keptLines = 64

// linePattern is "2026/01/31 12:00:00 [emerg] 7#7: *3 text" and what is printed
// before there is a log: "nginx: [emerg] text".
var linePattern = regexp.MustCompile(`^(?:nginx: |[0-9/]+ [0-9:]+ )\[(emerg|alert|crit|error)\] (?:(\d+)#\d+: )?(?:\*\d+ )?(.*)$`)

// longestLine is how long a line may be to be passed on: longer than any that nginx
// writes. It is not in memory unless such lines come.
const longestLine = 1 << 20

// follow reads lines until all processes that hold the other end have ended. Lines
// that are too long are left out whole.
func (l *errorLog) follow(r io.ReadCloser) {
	defer r.Close()
	if l.read != nil {
		defer close(l.read)
	}
	lines := bufio.NewReaderSize(r, longestLine)
	for tooLong := false; ; {
		line, err := lines.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			tooLong = true
			continue
		}
		if len(line) > 0 && !tooLong {
			l.note(line)
		}
		if err != nil {
			return
		}
		tooLong = false
	}
}

// note keeps and passes on one line. What cannot be written is lost: nginx must
// not be made to wait for a reader of logs.
func (l *errorLog) note(line []byte) {
	g, ok := grave{}, false
	if !l.forgeable {
		g, ok = parseLine(string(line))
	}
	if ok && (g.Level == "emerg" || g.Level == "alert" || g.PID == l.master) {
		l.mu.Lock()
		l.count++
		l.last = append(l.last, g)
		if len(l.last) > keptLines {
			l.last = append([]grave(nil), l.last[len(l.last)-keptLines:]...)
		}
		l.mu.Unlock()
	}
	_, _ = l.out.Write(line)
}

func parseLine(line string) (grave, bool) {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	match := linePattern.FindStringSubmatch(line)
	if match == nil {
		return grave{}, false
	}
	pid, _ := strconv.Atoi(match[2])
	return grave{Level: match[1], PID: pid, Text: match[3]}, true
}

// mark is a place in the log, for since.
func (l *errorLog) mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// since gives the grave lines after a mark, as far as they are still kept.
func (l *errorLog) since(mark int) []grave {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(l.count-mark, len(l.last))
	return append([]grave(nil), l.last[len(l.last)-n:]...)
}
