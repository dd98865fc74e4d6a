// Package web holds only tests: they open the page in a real Chromium, against whole
// servers, and use it by keys, clicks and touch as people do. They are skipped if
// Chromium is not installed.
package web
