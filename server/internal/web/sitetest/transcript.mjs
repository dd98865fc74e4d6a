import * as tribolo from '../site/tribolo.js';
import * as twenty48 from '../site/twenty48.js';
import { recompute } from '../site/verify.js';

/** Verifies all events of a game in one call. */
export function verifyTranscript(events) {
  const rules = events[0]?.created?.variant === 'tribolo' ? tribolo : twenty48;
  const steps = recompute(events, rules);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
