// Package render prints nginx.conf. In go a model.Static and the Environment; out come
// a File, and the Problems of values that cannot be printed safely.
//
// Templates only lay out. Three things keep a user's value from becoming a directive:
//
//   - Printers: every value passes a function that quotes or refuses it, so that it is
//     exactly one token of nginx's configuration language.
//   - The walk: Load follows the text of every template with nginx's lexer, and refuses
//     a template that prints a value where no printer is safe.
//   - The structure check: each newly rendered block is read as nginx reads it. It may
//     contain only the directives, blocks and argument counts of the templates.
//
// A location that fails returns 503; the rest is printed as usual:
//
//	templates, err := render.Load(files)
//	file, problems := templates.Render(config.Static, environment, cache)
//	file.WriteTo(w)
package render
