import { ALL_TENANTS, type Events, type LoggedEvent } from '@waybill/core';

/** Prints a line per event until the signal is aborted. */
export async function showEvents(events: Events, after: string, signal: AbortSignal): Promise<void> {
  for await (const event of events.follow({ after, filter: { tenant: ALL_TENANTS }, signal })) process.stdout.write(`${lineOf(event)}\n`);
}

function lineOf({ at, jobType, jobId, type, attempt, data }: LoggedEvent): string {
  const time = new Date(at).toISOString().slice(11, 23);
  const told = Object.keys(data).length === 0 ? '' : ` ${JSON.stringify(data)}`;
  return `${time} ${jobType} ${jobId} ${type.replace('job.', '')}${attempt > 0 ? ` #${attempt}` : ''}${told}`;
}
