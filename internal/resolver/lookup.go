package resolver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"sluice/internal/model"
)

const (
	// minTTL and maxTTL limit the time for which an answer is valid.
	minTTL = time.Second
	maxTTL = 5 * time.Minute
	// partialTTL is the time for which an answer without one family is valid.
	partialTTL = 5 * time.Second
	// absentTTL is the time for which the answer "no such name" is valid.
	absentTTL = 10 * time.Second
	// udpSize is the size of the largest answer over UDP; a longer one uses TCP.
	// Source: https://www.dnsflagday.net/2020/
	udpSize = 1232
)

// lookup asks DNS according to resolv.conf(5): the servers in order, search domains and
// ndots.
type lookup struct {
	servers  []string
	search   []string
	ndots    int
	attempts int
	timeout  time.Duration
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	// ipv4 is set if it never asks for AAAA.
	ipv4 bool
}

// found is the answer for one name: its addresses, sorted, the refused ones, and the time
// for which the answer is valid.
type found struct {
	addresses []netip.Addr
	refused   []netip.Addr
	ttl       time.Duration
	// lists are the answers with the addresses. partial is the error of a family whose
	// query failed; its previous list is used if there is one.
	lists   lists
	partial error
}

// lists are the last good answers for one full name, by family.
type lists struct {
	of        string
	addresses [len(families)][]netip.Addr
}

// families are the types of records, in the order in which they are asked for.
var families = [...]uint16{dns.TypeA, dns.TypeAAAA}

// newLookup reads a file in the format of resolv.conf(5). port is the port of the servers.
func newLookup(path, port string) (*lookup, error) {
	conf, err := dns.ClientConfigFromFile(path)
	if err != nil {
		return nil, err
	}
	l := &lookup{
		search: conf.Search, ndots: conf.Ndots, attempts: conf.Attempts,
		timeout: time.Duration(conf.Timeout) * time.Second,
	}
	for _, server := range conf.Servers {
		l.servers = append(l.servers, net.JoinHostPort(server, port))
	}
	if len(l.servers) == 0 {
		return nil, fmt.Errorf("%s: names no nameserver", path)
	}
	return l, nil
}

// candidates returns the full names to ask for, in order.
func (l *lookup) candidates(name string) []string {
	if strings.HasSuffix(name, ".") {
		return []string{name}
	}
	var searched []string
	for _, domain := range l.search {
		searched = append(searched, dns.Fqdn(name+"."+strings.TrimSuffix(domain, ".")))
	}
	if strings.Count(name, ".") >= l.ndots {
		return append([]string{dns.Fqdn(name)}, searched...)
	}
	return append(searched, dns.Fqdn(name))
}

// resolve returns the addresses of the first candidate with addresses. It fails if there is
// none and a query failed. A family whose query fails keeps the addresses of its last good
// answer.
func (l *lookup) resolve(ctx context.Context, name string, last lists) (found, error) {
	if address, err := netip.ParseAddr(name); err == nil {
		return sift([]netip.Addr{address}, maxTTL), nil
	}
	var failures []error
	for _, candidate := range l.candidates(name) {
		now, ttl, err, kept := l.addresses(ctx, candidate, last)
		if addresses := slices.Concat(now.addresses[:]...); len(addresses) > 0 {
			f := sift(addresses, ttl)
			f.lists, f.partial = now, errors.Join(kept, err)
			return f, nil
		}
		failures = append(failures, err)
	}
	return found{ttl: absentTTL}, errors.Join(failures...)
}

// answer is the answer of DNS for one family.
type answer struct {
	addresses []netip.Addr
	ttl       time.Duration
	// absent is set if the name has no records of any family.
	absent bool
	err    error
}

// addresses asks for A, and for AAAA only if there is no A: a node may have no IPv6. If the query for
// A fails, AAAA are enough. kept is the error of a family whose previous addresses are used.
func (l *lookup) addresses(ctx context.Context, name string, last lists) (now lists, ttl time.Duration, err, kept error) {
	now, ttl = lists{of: name}, maxTTL
	for family := range families {
		a := l.ask(ctx, name, family)
		if a.err != nil && last.of == name && len(last.addresses[family]) > 0 {
			kept = a.err
			a = answer{addresses: last.addresses[family], ttl: partialTTL}
		}
		if a.err != nil {
			ttl = min(ttl, partialTTL) // what the other family has counts for a moment only
		}
		now.addresses[family], ttl, err = a.addresses, min(ttl, a.ttl), errors.Join(err, a.err)
		if len(a.addresses) > 0 || a.absent || l.ipv4 {
			break
		}
	}
	return now, ttl, err, kept
}

// ask asks the servers in order until one answers.
func (l *lookup) ask(ctx context.Context, name string, family int) answer {
	query := new(dns.Msg)
	query.SetQuestion(name, families[family])
	query.SetEdns0(udpSize, false)
	var failure error
	for range max(1, l.attempts) {
		for _, server := range l.servers {
			said, err := l.exchange(ctx, query, server)
			if err == nil {
				addresses, ttl := read(said)
				return answer{addresses: addresses, ttl: ttl, absent: said.Rcode == dns.RcodeNameError}
			}
			failure = fmt.Errorf("%s of %s from %s: %w", dns.TypeToString[families[family]], name, server, err)
			if ctx.Err() != nil {
				return answer{ttl: maxTTL, err: failure}
			}
		}
	}
	return answer{ttl: maxTTL, err: failure}
}

// exchange returns an answer with records, or one that says that there are none. Other
// answers are errors.
func (l *lookup) exchange(ctx context.Context, query *dns.Msg, server string) (*dns.Msg, error) {
	answer, err := l.exchangeOver(ctx, "udp", query, server)
	if err == nil && answer.Truncated {
		answer, err = l.exchangeOver(ctx, "tcp", query, server)
	}
	if err != nil {
		return nil, err
	}
	if answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError {
		return nil, errors.New(dns.RcodeToString[answer.Rcode])
	}
	return answer, nil
}

// exchangeOver sends a query over a network. It ends with ctx.
func (l *lookup) exchangeOver(ctx context.Context, network string, query *dns.Msg, server string) (*dns.Msg, error) {
	dialing, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	connection, err := l.dial(dialing, network, server)
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	client := dns.Client{Net: network, Timeout: l.timeout}
	answer, _, err := client.ExchangeWithConnContext(ctx, query, &dns.Conn{Conn: connection})
	return answer, err
}

// read returns the addresses of an answer, and the lowest TTL of its records.
func read(answer *dns.Msg) ([]netip.Addr, time.Duration) {
	var addresses []netip.Addr
	ttl := maxTTL
	for _, record := range answer.Answer {
		ttl = min(ttl, time.Duration(record.Header().Ttl)*time.Second)
		var ip net.IP
		switch record := record.(type) {
		case *dns.A:
			ip = record.A
		case *dns.AAAA:
			ip = record.AAAA
		}
		if address, ok := netip.AddrFromSlice(ip); ok {
			addresses = append(addresses, address.Unmap())
		}
	}
	return addresses, max(ttl, minTTL)
}

// sift sorts the addresses, and separates those that must not be used.
func sift(addresses []netip.Addr, ttl time.Duration) found {
	slices.SortFunc(addresses, netip.Addr.Compare)
	f := found{ttl: ttl}
	for _, address := range slices.Compact(addresses) {
		if model.Forbidden(address) {
			f.refused = append(f.refused, address)
			continue
		}
		f.addresses = append(f.addresses, address)
	}
	return f
}
