import { isJobEvent, kindOf, type LoggedEvent } from '@waybill/core';
import { idPrefix } from './short-ids.ts';
import type { Screen } from './table.ts';
import { clipped, oneLine } from './text-width.ts';

/** What happened, in one line that fits the screen: when, to whom, what, and what is known about it. */
export function eventLine(event: LoggedEvent, screen: Screen): string {
  const { style, width } = screen;
  const { at, type, data } = event;
  const time = style.dim(new Date(at).toISOString().slice(11, 23));
  const told = style.dim(Object.keys(data).length === 0 ? '' : ` ${oneLine(JSON.stringify(data))}`);
  const word = style.state(type.slice(type.indexOf('.') + 1));
  if (!isJobEvent(event)) return clipped(`${time} ${kindOf(type)} ${oneLine(event.subject)} ${word}${told}`, width);
  const { jobType, jobId, attempt } = event;
  const name = clipped(oneLine(jobType), width / 4);
  return clipped(
    `${time} ${name} ${idPrefix(jobId, screen)} ${word}${attempt > 0 ? ` #${attempt}` : ''}${told}`,
    width,
  );
}
