// Verifies transcripts and prints one verdict per line, in JSON.
//
//   node judge.mjs FILE
//
// The file is [{"events": [...], "changed": [{"at": 3, "event": {...}}, ...]}, ...]. For each
// item, the first verdict is for the events, and the others are for the transcripts with one
// event changed.

import { readFileSync } from 'node:fs';
import { verifyTranscript } from './transcript.mjs';

for (const { events, changed } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  console.log(JSON.stringify(verifyTranscript(events)));
  for (const { at, event } of changed ?? []) {
    console.log(JSON.stringify(verifyTranscript(events.with(at, event))));
  }
}
