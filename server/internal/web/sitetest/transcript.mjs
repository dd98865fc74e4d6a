import { recompute } from '../site/verify.js';

/** Verifies all events of a game at once. */
export function verifyTranscript(events) {
  const steps = recompute(events);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
