import { toRfc3339 } from '@waybill/client';
import { WaybillError } from '@waybill/core';
import type { OutboxContents, OutboxFile, OutboxFileState } from '@waybill/worker';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { shortIds } from '../short-ids.ts';
import { away } from '../spans.ts';
import { table } from '../table.ts';

const STATES: Readonly<Record<OutboxFileState, string>> = {
  open: 'its worker runs',
  left: 'its worker has ended; the next one sends it',
  elsewhere: 'of a worker on another machine',
  lost: 'the server has refused it',
};

export const outboxShow = command({
  name: 'outbox show',
  section: 'Jobs',
  summary: 'show what waits in the outbox of workers',
  args: 'FOLDER',
  usesStore: false,
  notes: `Reads the folder and changes nothing in it. Each line is a run of a job whose entries no
server has answered for yet:

${Object.entries(STATES)
  .map(([state, about]) => `  ${state.padEnd(9)}  ${about}`)
  .join('\n')}`,
  run: async ({ args: [folder = ''] }, context) => {
    const contents = await contentsOf(folder);
    const runs = byRun(contents.files);
    const document = { folder, runs: runs.map(toWire), unreadable: contents.unreadable };
    context.show(document, () => textOf(runs, contents, context));
    return 0;
  },
});

async function contentsOf(folder: string): Promise<OutboxContents> {
  // Loaded here, so that other commands do not pay for it.
  const { readOutbox } = await import('@waybill/worker');
  try {
    return await readOutbox(folder);
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new WaybillError(isMissing ? 'not_found' : 'forbidden', `Cannot read the folder '${folder}': ${code}.`, {
      hint: 'Name the folder of --outbox of the worker.',
      cause,
    });
  }
}

type Run = Omit<OutboxFile, 'name' | 'tornBytes'>;

/** Of one run there may be several files: each worker that goes on with it writes its own. */
function byRun(files: readonly OutboxFile[]): Run[] {
  const runs = new Map<string, Run>();
  for (const { name: _, tornBytes: __, ...file } of files) {
    const key = JSON.stringify([file.tenant, file.jobId, file.run, file.state]);
    const known = runs.get(key);
    runs.set(key, known ? joined(known, file) : file);
  }
  return [...runs.values()];
}

const joined = (one: Run, other: Run): Run => ({
  ...one,
  entries: one.entries + other.entries,
  critical: one.critical + other.critical,
  bytes: one.bytes + other.bytes,
  oldestAt: extreme(Math.min, one.oldestAt, other.oldestAt),
  newestAt: extreme(Math.max, one.newestAt, other.newestAt),
});

const extreme = (of: (a: number, b: number) => number, a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : of(a, b);

const toWire = ({ tenant, jobId, run, state, entries, critical, bytes, oldestAt, newestAt }: Run): object => ({
  ...(tenant !== '' && { tenant }),
  ...{ job_id: jobId, run, state, entries, critical, bytes },
  ...(oldestAt !== null && { oldest_at: toRfc3339(oldestAt) }),
  ...(newestAt !== null && { newest_at: toRfc3339(newestAt) }),
});

function textOf(runs: readonly Run[], { unreadable }: OutboxContents, context: Context): string {
  const { io } = context;
  const shown = shortIds(
    runs.map(({ jobId }) => jobId),
    context,
  );
  const rows = table(
    runs,
    [
      { title: 'JOB', of: ({ jobId }) => shown(jobId) },
      ...(runs.some(({ tenant }) => tenant !== '')
        ? [{ title: 'TENANT', of: ({ tenant }: Run) => tenant, least: 6, spare: 3 }]
        : []),
      { title: 'RUN', of: ({ run }) => String(run), align: 'right' },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'ENTRIES', of: ({ entries }) => String(entries), align: 'right' },
      { title: 'CRITICAL', of: ({ critical }) => String(critical), align: 'right', spare: 1 },
      { title: 'BYTES', of: ({ bytes }) => String(bytes), align: 'right', spare: 2 },
      { title: 'OLDEST', of: ({ oldestAt }) => (oldestAt === null ? '-' : away(oldestAt, io.now())) },
    ],
    context,
  );
  const bad = unreadable.map(({ name, reason }) => `cannot be read: ${name} (${reason})\n`).join('');
  return `${runs.length === 0 ? 'Nothing waits in this outbox.\n' : rows}${bad}`;
}
