package main

import "errors"

// once is a flag of text that may be given once: of two values, one would be ignored.
type once struct {
	text  *string
	given bool
}

func (o *once) String() string {
	if o.text == nil {
		return ""
	}
	return *o.text
}

func (o *once) Type() string { return "string" }

func (o *once) Set(value string) error {
	if o.given {
		return errors.New("want it once")
	}
	*o.text, o.given = value, true
	return nil
}
