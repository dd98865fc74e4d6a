// Package web contains only tests. They open the page of a complete server in a real Chromium, and
// control it with key presses, clicks and touch, as a user does. They are skipped if Chromium is
// not installed.
package web
