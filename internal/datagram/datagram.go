// Package datagram opens the unix sockets on which nginx's workers send datagrams:
// rootfs/etc/nginx/lua/sluice/queue.lua sends them.
package datagram

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// Longest is more bytes than a worker sends at once.
const Longest = 1 << 18

// Listen opens a socket at path, in place of one that a former process left. Every account
// may send to it: its folder is for nginx's workers only, who can have another account than
// this process.
func Listen(path string) (*net.UnixConn, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("make a socket for nginx's workers: %w", err)
	}
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("make a socket for nginx's workers: %w", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(fmt.Errorf("make a socket for nginx's workers: %w", err), socket.Close())
	}
	return socket, nil
}

// Cut returns the number of lines that a worker could not keep, with which a datagram begins, and
// the lines after it. ok is false if it begins with something else.
func Cut(text []byte) (lost uint64, lines []byte, ok bool) {
	first, lines, _ := bytes.Cut(text, []byte("\n"))
	lost, err := strconv.ParseUint(string(first), 10, 64)
	return lost, lines, err == nil
}
