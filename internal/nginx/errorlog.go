package nginx

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// severeLine is a line of the error log that can explain why nginx rejects a file.
type severeLine struct {
	Level string // one of levels
	PID   int
	Text  string
}

// levels are the log levels that can explain a failure, most severe first.
var levels = []string{"emerg", "alert", "crit", "error"}

// requestLog tells the workers to log to the first of the ExtraFiles instead of the
// master's file. nginx escapes nothing, so a request can make a worker log a line
// that looks like one of the master. See rootfs/etc/nginx/lua/sluice/requestlog.lua.
const requestLog = "SLUICE_REQUEST_LOG=3"

// Pass copies the workers' log of requests, each line with one write, until all
// processes that hold the other end have ended. It does not interpret the lines.
func Pass(r io.ReadCloser, out io.Writer) { (&errorLog{out: out, forgeable: true}).follow(r) }

// errorLog forwards nginx's error log and keeps the last severe lines: those of the
// two most severe levels, and all lines of the master, which logs little. It does not
// keep errors of workers, so that a flood of them displaces nothing.
type errorLog struct {
	out io.Writer
	// master is the pid of the master; set before the first line is read.
	master int
	// forgeable is set if requests can influence the lines: then none is kept.
	forgeable bool
	// read is closed at the end of the log; nil if nobody waits for it.
	read chan struct{}

	mu    sync.Mutex
	count int // severe lines so far
	last  []severeLine
}

const keptLines = 64

// linePattern matches "2026/01/31 12:00:00 [emerg] 7#7: *3 text", and "nginx: [emerg]
// text", which nginx prints before it has a log.
var linePattern = regexp.MustCompile(`^(?:nginx: |[0-9/]+ [0-9:]+ )\[(emerg|alert|crit|error)\] (?:(\d+)#\d+: )?(?:\*\d+ )?(.*)$`)

// longestLine is the maximum length of a forwarded line, longer than any that nginx
// writes. The buffer grows only if such lines arrive.
const longestLine = 1 << 20

// follow reads lines until all processes that hold the other end have ended. It drops
// lines that are too long.
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

// note keeps and forwards one line. A line that cannot be written is lost, because
// nginx must not wait for a reader of its log.
func (l *errorLog) note(line []byte) {
	g, ok := severeLine{}, false
	if !l.forgeable {
		g, ok = parseLine(string(line))
	}
	if ok && (g.Level == "emerg" || g.Level == "alert" || g.PID == l.master) {
		l.mu.Lock()
		l.count++
		l.last = append(l.last, g)
		if len(l.last) > keptLines {
			l.last = append([]severeLine(nil), l.last[len(l.last)-keptLines:]...)
		}
		l.mu.Unlock()
	}
	_, _ = l.out.Write(line)
}

func parseLine(line string) (severeLine, bool) {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	match := linePattern.FindStringSubmatch(line)
	if match == nil {
		return severeLine{}, false
	}
	pid, _ := strconv.Atoi(match[2])
	return severeLine{Level: match[1], PID: pid, Text: match[3]}, true
}

// mark returns the current position in the log, for since.
func (l *errorLog) mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// since returns the severe lines after a mark, as far as they are kept.
func (l *errorLog) since(mark int) []severeLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(l.count-mark, len(l.last))
	return append([]severeLine(nil), l.last[len(l.last)-n:]...)
}
