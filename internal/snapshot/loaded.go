package snapshot

// Loaded is what a source of objects says now.
type Loaded struct {
	// Objects are in an order that changes little from one time to the next. An
	// object that did not change is the same pointer as before.
	Objects Objects
	// Notes say what was passed over.
	Notes []Note
	// Errors say, one line each, what is wrong now: *DecodeError for what does
	// not decode, others for what does not read. What they are about goes on as
	// it was before.
	Errors []error
	// Files is the number of files that were looked at.
	Files int
	// ClassesUnreadable is set if IngressClasses must not be read, so that nothing
	// is known of them.
	ClassesUnreadable bool
}
