import { ALL_TENANTS, type Events, isJobEvent, kindOf, type LoggedEvent } from '@waybill/core';

/** Prints a line per event until the signal is aborted. */
export async function showEvents(events: Events, after: string, signal: AbortSignal): Promise<void> {
  for await (const event of events.follow({ after, filter: { tenant: ALL_TENANTS }, signal }))
    process.stdout.write(`${lineOf(event)}\n`);
}

function lineOf(event: LoggedEvent): string {
  const { at, type, data } = event;
  const time = new Date(at).toISOString().slice(11, 23);
  const told = Object.keys(data).length === 0 ? '' : ` ${JSON.stringify(data)}`;
  const word = type.slice(type.indexOf('.') + 1);
  if (!isJobEvent(event)) return `${time} ${kindOf(type)} ${event.subject} ${word}${told}`;
  const { jobType, jobId, attempt } = event;
  return `${time} ${jobType} ${jobId} ${word}${attempt > 0 ? ` #${attempt}` : ''}${told}`;
}
