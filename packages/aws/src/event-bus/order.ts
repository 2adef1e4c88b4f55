import type { LogEvent } from '@waybill/core';

const ITERATION_DIGITS = 4;
const RUN_DIGITS = 8;
const COUNT_DIGITS = 16;

const BEGIN_OF_RUN = 0;
const DURING_RUN = 1;
const AFTER_RUN = 2;

/** Of a task that is reviewed several rows tell: one for each iteration, and the gate that decides about them. */
export interface Telling {
  iteration: number;
  isGate: boolean;
}

/**
 * Where an event stands among those of its task or job, as text that sorts. It goes by what the rows count, and not by
 * clocks: two events of one millisecond are in order, and so are those of two servers whose clocks differ.
 */
export function orderOf(event: LogEvent, { iteration, isGate }: Telling): string {
  const { type, source, sequence, run = 0, at } = event;
  // A heartbeat and a report are counted apart from what the row counts: all that is known is which run they are of.
  const isOfRun = source !== 'server' && event.subject === undefined;
  const phase = type === 'job.started' ? BEGIN_OF_RUN : isOfRun ? DURING_RUN : AFTER_RUN;
  const count = isOfRun ? at : sequence;
  const place = [padded(iteration, ITERATION_DIGITS), isGate ? 1 : 0, padded(run, RUN_DIGITS)];
  return [...place, phase, padded(count, COUNT_DIGITS)].join('.');
}

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');
