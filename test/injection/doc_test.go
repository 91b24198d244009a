// Package injection tries to make configuration out of values.
//
// TestEveryField puts each value of a corpus of hostile ones in each string of
// each object that Sluice reads, as an object and as YAML, and judges what
// becomes of it with a reader of nginx.conf of its own:
//
//   - every directive, with the blocks around it, is one that benign objects give
//     too, there are no more servers and locations than the objects ask for, and
//     there is no comment;
//   - the value is one whole token, or a problem says why it is not there;
//   - what protects a path is there, or the path is closed;
//   - an Ingress of another namespace is served as before, byte for byte.
//
// Names that an API server checks are tried too, as objects that it never let
// pass. What Sluice makes of them must still be safe, but need not be useful.
//
// Real nginx reads what becomes of the values that are printed, and answers
// requests for each path that is served. One test for each class of known
// vulnerabilities of ingress controllers replays it, under its number.
package injection
