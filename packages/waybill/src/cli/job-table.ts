import { jobToWire } from '@waybill/client';
import { type DeadMessage, type Job, type JobPage, lastError } from '@waybill/core';
import type { Context } from './context.ts';
import { messageTable, messageToWire } from './dead-messages.ts';
import { shortIds } from './short-ids.ts';
import { away } from './spans.ts';
import { type Column, table } from './table.ts';

export const pagination = (limit: number, cursor: string | undefined) => ({
  limit,
  has_more: cursor !== undefined,
  ...(cursor !== undefined && { cursor }),
});

/** How to see what comes next. */
export const moreLine = (cursor: string | undefined, { style }: Context): string =>
  cursor === undefined ? '' : `${style.dim(`more with --cursor ${cursor}`)}\n`;

interface Shown {
  withErrors?: boolean;
  messages?: readonly DeadMessage[];
}

/** A page of jobs: of all, of the dead ones, of a workflow. */
export function showJobs(page: JobPage, limit: number, context: Context, more: Shown = {}): void {
  const { items, cursor, unreadable = [] } = page;
  const { messages } = more;
  const document = {
    jobs: items.map((job) => jobToWire(job)),
    pagination: pagination(limit, cursor),
    ...(unreadable.length > 0 && { unreadable }),
    ...(messages && { messages: messages.map(messageToWire) }),
  };
  context.show(document, () => jobsText(page, context, more));
}

/** The same for people. */
export function jobsText(
  { items, cursor, unreadable = [] }: JobPage,
  context: Context,
  { withErrors = false, messages }: Shown = {},
): string {
  const { style, io } = context;
  const shown = shortIds(
    items.map(({ id }) => id),
    context,
  );
  // Dead letters all have the same state.
  const spareState = withErrors ? { spare: 2 } : {};
  const columns: Column<Job>[] = [
    { title: 'ID', of: ({ id }) => shown(id) },
    { title: 'TYPE', of: ({ type }) => type, least: 10 },
    { title: 'QUEUE', of: ({ queue }) => queue, least: 8, spare: 1 },
    { title: 'STATE', of: ({ state }) => state, paint: style.state, ...spareState },
    {
      ...{ title: 'ATTEMPT', short: 'TRY', align: 'right' },
      of: ({ attempt, maxAttempts }) => `${attempt}/${maxAttempts}`,
    },
    withErrors
      ? { title: 'FAILED', of: ({ finishedAt }) => (finishedAt === null ? '' : away(finishedAt, io.now())) }
      : { title: 'CREATED', of: ({ createdAt }) => away(createdAt, io.now()) },
    ...(withErrors ? [{ title: 'ERROR', of: errorOf, least: 12 }] : []),
  ];
  const none = withErrors ? 'No dead letters.\n' : 'No jobs.\n';
  const jobs = items.length === 0 ? none : table(items, columns, context);
  const rows = jobs + unreadableLines(unreadable, context) + moreLine(cursor, context);
  return messages === undefined || messages.length === 0 ? rows : `${rows}\n${messageTable(messages, context)}`;
}

/** Rows that were damaged by hand, or that a newer version wrote. */
const unreadableLines = (ids: readonly string[], { style }: Context): string =>
  ids.map((id) => `${style.dim(`cannot be read: ${id}`)}\n`).join('');

function errorOf(job: Job): string {
  const error = lastError(job);
  return error === undefined ? '' : `${error.type ?? error.code}: ${error.message}`;
}
