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
//   - an Ingress of another namespace is served as before, byte for byte, and nginx
//     chooses its server for its names.
//
// What benign objects give is learnt from the values that each key calls the edges
// of what is valid (see keys.Doc), so that a new annotation or setting is judged
// without a line here: a switch, a number, a size, a text, a list of words, of items
// or of addresses. One line is needed where settings print something only beside
// each other (together), where a value is printed as something that is made of it
// (turned), where a new type is digits and units (numeric), and where a new key
// keeps requests out (guardsOf).
//
// Names that an API server checks are tried too, as objects that it never let
// pass. What Sluice makes of them must still be safe, but need not be useful.
//
// Real nginx reads what becomes of the values that are printed, and answers
// requests for each path that is served. One test for each class of known
// vulnerabilities of ingress controllers replays it, under its number.
package injection
