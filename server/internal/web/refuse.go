package web

import "net/http"

// Refuse answers a request that reached no handler with the status of a call.
func Refuse(w http.ResponseWriter, r *http.Request, err error) { writeError(w, r, err) }
