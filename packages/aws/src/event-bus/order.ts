import type { LogEvent } from '@waybill/core';

const RUN_DIGITS = 8;
const COUNT_DIGITS = 16;

const BEGIN_OF_RUN = 0;
const DURING_RUN = 1;
const AFTER_RUN = 2;

/**
 * Where an event stands among those of its task or job, as text that sorts. It goes by what the row counts, and not by
 * clocks: two events of one millisecond are in order, and so are those of two servers whose clocks differ. `bornAt` is when
 * the row was made, because a task that is revised has a new row for each iteration.
 */
export function orderOf(event: LogEvent, bornAt: number): string {
  const { type, source, sequence, run = 0, at } = event;
  // A heartbeat and a report are counted apart from what the row counts: all that is known is which run they are of.
  const isOfRun = source !== 'server' && event.subject === undefined;
  const phase = type === 'job.started' ? BEGIN_OF_RUN : isOfRun ? DURING_RUN : AFTER_RUN;
  const count = isOfRun ? at : sequence;
  return [padded(bornAt, COUNT_DIGITS), padded(run, RUN_DIGITS), phase, padded(count, COUNT_DIGITS)].join('.');
}

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');
