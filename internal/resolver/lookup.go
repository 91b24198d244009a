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
	// minTTL and maxTTL bound how long an answer is believed.
	minTTL = time.Second
	maxTTL = 5 * time.Minute
	// absentTTL is how long "there is no such name" is believed.
	absentTTL = 10 * time.Second
	// udpSize is the largest answer over UDP; a longer one comes by TCP.
	// Source: https://www.dnsflagday.net/2020/
	udpSize = 1232
)

// lookup asks DNS as resolv.conf(5) says: its servers in turn, its search
// domains and ndots.
type lookup struct {
	servers  []string
	search   []string
	ndots    int
	attempts int
	timeout  time.Duration
}

// found is the answer for one name: its addresses, sorted, those that were
// refused, and for how long that holds. No address means there is none.
type found struct {
	addresses []netip.Addr
	refused   []netip.Addr
	ttl       time.Duration
	// lists are what the addresses were taken from. partial is the error of a
	// family that could not be asked for, and has the list of before.
	lists   lists
	partial error
}

// lists are the last good answers for one full name, by family.
type lists struct {
	of        string
	addresses [len(families)][]netip.Addr
}

var families = [...]uint16{dns.TypeA, dns.TypeAAAA}

// newLookup reads a file in the format of resolv.conf(5). Its servers are
// asked on this port.
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

// candidates are the full names to ask for, in order.
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

// resolve gives the addresses of the first candidate that has some. It is an
// error if none has and one of them could not be asked for. A family that cannot
// be asked for has the addresses of the last good answer.
func (l *lookup) resolve(ctx context.Context, name string, last lists) (found, error) {
	if address, err := netip.ParseAddr(name); err == nil {
		return sift([]netip.Addr{address}, maxTTL), nil
	}
	var failures []error
	for _, candidate := range l.candidates(name) {
		now, ttl, err, kept := l.both(ctx, candidate, last)
		if addresses := slices.Concat(now.addresses[:]...); len(addresses) > 0 {
			f := sift(addresses, ttl)
			f.lists, f.partial = now, kept
			return f, nil
		}
		failures = append(failures, err)
	}
	return found{ttl: absentTTL}, errors.Join(failures...)
}

// both asks for A and AAAA. One of them is enough: some servers fail for the
// type that they do not have. kept is set if one fails that had addresses before.
func (l *lookup) both(ctx context.Context, name string, last lists) (now lists, ttl time.Duration, err, kept error) {
	now, ttl = lists{of: name}, maxTTL
	for i, family := range families {
		addresses, valid, failure := l.ask(ctx, name, family)
		if failure != nil && last.of == name && len(last.addresses[i]) > 0 {
			addresses, valid, kept = last.addresses[i], retryAfter, failure
		}
		now.addresses[i], ttl, err = addresses, min(ttl, valid), errors.Join(err, failure)
	}
	return now, ttl, err, kept
}

// ask goes through the servers until one answers.
func (l *lookup) ask(ctx context.Context, name string, kind uint16) ([]netip.Addr, time.Duration, error) {
	query := new(dns.Msg)
	query.SetQuestion(name, kind)
	query.SetEdns0(udpSize, false)
	var failure error
	for range max(1, l.attempts) {
		for _, server := range l.servers {
			answer, err := l.exchange(ctx, query, server)
			if err == nil {
				addresses, ttl := read(answer)
				return addresses, ttl, nil
			}
			failure = fmt.Errorf("%s of %s from %s: %w", dns.TypeToString[kind], name, server, err)
			if ctx.Err() != nil {
				return nil, maxTTL, failure
			}
		}
	}
	return nil, maxTTL, failure
}

// exchange gives an answer that says what is or that it is not.
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

func (l *lookup) exchangeOver(ctx context.Context, network string, query *dns.Msg, server string) (*dns.Msg, error) {
	client := dns.Client{Net: network, Timeout: l.timeout}
	answer, _, err := client.ExchangeContext(ctx, query, server)
	return answer, err
}

// read gives the addresses of an answer, and the least time that it and what
// led to it are valid.
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

// sift sorts and separates the addresses that must not be served.
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
