// Verifies transcripts and prints one verdict per line, in JSON.
//
//   node judge.mjs FILE
//
// The file is [{"events": [...], "changed": [{"at": 3, "event": {...}}, ...]}, ...]. The verdict
// on the events comes first, then that on each transcript that differs from it in one event.

import { readFileSync } from 'node:fs';
import { verifyTranscript } from './transcript.mjs';

for (const { events, changed } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  console.log(JSON.stringify(verifyTranscript(events)));
  for (const { at, event } of changed ?? []) {
    console.log(JSON.stringify(verifyTranscript(events.with(at, event))));
  }
}
