package model

// TracesSocket is the socket in the folder of nginx's sockets on which the controller reads
// the spans of workers.
const TracesSocket = "traces.sock"
