// Package render prints what nginx must do: a model.Static and the Environment
// go in, the nginx.conf comes out as a File, with the Problems of what could not
// be printed safely.
//
// Templates only lay out. Three things keep a value that a user wrote from
// becoming a directive:
//
//   - Printers: every printed value passes a function that quotes it, or refuses
//     it, so that it is exactly one token of nginx's configuration language.
//   - The guard: Load walks the text of every template along nginx's own lexer
//     and refuses a template that prints where no printer can be safe.
//   - The structure check: each newly rendered block is tokenised as nginx does
//     it and may only hold directives, blocks and argument counts that occur in
//     the text of the templates.
//
// A location that fails answers 503 and everything else is printed as ever:
//
//	templates, err := render.Load(files)
//	file, problems := templates.Render(config.Static, environment, cache)
//	file.WriteTo(w)
package render
