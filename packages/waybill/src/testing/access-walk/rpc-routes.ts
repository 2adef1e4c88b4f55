import type { Asked, Route } from './route.ts';
import type { Held, Things } from './things.ts';

/** Streams go on as long as their reader does: this one leaves then, and what it has been shown counts. */
export const STREAM_MS = 300;

const at = (service: string, method: string): string => `/waybill.v1.${service}/${method}`;

const jobOf = ({ cell, request }: Things) => {
  const { type, args } = request();
  return { type, args, queue: cell.queue };
};

const taskToken = ({ cell: { queue } }: Things, { id, token }: Held): string =>
  `wb1_${Buffer.from(JSON.stringify([id, queue, token])).toString('base64url')}`;

/** A task token names its job. */
function namesIn(body: unknown): string {
  const { taskToken: token } = body as { taskToken?: string };
  return token === undefined ? '' : Buffer.from(token.slice(4), 'base64url').toString();
}

type Shape = Pick<Route, 'scope' | 'isAboutOne'>;
const OUTPUT = { sequence: '1', output: { output: 'eA==' } };

/** Every method that HTTP/1.1 can call, in JSON. Those of bidirectional streams are walked over gRPC by the server's own tests. */
export function rpcRoutes(): Record<string, Route> {
  const routes: Record<string, Route> = {};
  const add = (service: string, method: string, shape: Shape, body: (things: Things) => unknown, isStream = false) => {
    const path = at(service, method);
    const ask = async (things: Things): Promise<Asked> => {
      const made = await body(things);
      return { path, body: made, names: namesIn(made), ...(isStream && { isStream }) };
    };
    routes[`ALL ${path}`] = { ...shape, ask };
  };
  const reads = { scope: 'read', isAboutOne: false } as const;
  const readsOne = { scope: 'read', isAboutOne: true } as const;
  const enqueues = { scope: 'enqueue', isAboutOne: false } as const;
  const enqueuesOne = { scope: 'enqueue', isAboutOne: true } as const;
  const works = { scope: 'work', isAboutOne: false } as const;
  const worksOne = { scope: 'work', isAboutOne: true } as const;
  const job = async ({ job: make }: Things) => ({ jobId: await make() });
  const task = async (things: Things) => ({ taskToken: taskToken(things, await things.held()) });
  const run = async (things: Things) => {
    const { id, token } = await things.held();
    return { jobId: id, leaseToken: token };
  };

  add('JobService', 'EnqueueJob', enqueues, jobOf);
  add('JobService', 'EnqueueJobs', enqueues, (things) => ({ jobs: [jobOf(things)] }));
  add('JobService', 'GetJob', readsOne, job);
  add('JobService', 'ListJobs', reads, () => ({}));
  add('JobService', 'GetProgress', readsOne, job);
  add('JobService', 'CancelJob', enqueuesOne, job);
  add('JobService', 'RetryJob', { scope: 'admin', isAboutOne: true }, async ({ dead }) => ({ jobId: await dead() }));
  add('JobService', 'ActivateJob', enqueuesOne, async ({ pending }) => ({ jobId: await pending() }));
  add('JobService', 'DequeueJobs', works, ({ cell }) => ({ queue: cell.queue, maxJobs: 1 }), true);
  // A run that is not there is as lost as one that another caller holds.
  add('JobService', 'UpdateJobVisibility', works, task);
  add('JobService', 'CompleteJob', worksOne, async (things) => ({
    ...(await task(things)),
    result: { success: true },
  }));
  add('WorkerService', 'Claim', works, ({ cell }) => ({ queues: [cell.queue] }));
  add('WorkerService', 'Heartbeat', works, async (things) => ({ workerId: 'w', jobs: [await run(things)] }));
  add('WorkerService', 'Settle', worksOne, async (things) => ({ ...(await run(things)), outcome: { completed: {} } }));
  add('WorkerService', 'Report', worksOne, async (things) => ({ ...(await run(things)), fraction: 0.5 }));
  add('WorkerService', 'Spend', worksOne, async (things) => ({ ...(await run(things)), amounts: { pages: 1 } }));
  add('WorkerService', 'Ask', worksOne, async (things) => ({ ...(await run(things)), key: 'two', text: 'Go on?' }));
  add('JobEventsService', 'AppendEvents', worksOne, async (things) => ({ ...(await task(things)), events: [OUTPUT] }));
  add('JobEventsService', 'ReadEvents', readsOne, job);
  add(
    'JobEventsService',
    'StreamEvents',
    readsOne,
    async (things) => ({ ...(await job(things)), lifecycle: true }),
    true,
  );
  add('LogService', 'Read', reads, () => ({}));
  add('LogService', 'End', reads, () => ({}));
  add('LogService', 'Follow', reads, () => ({}), true);
  return routes;
}

/** What a caller that leaves after a time is answered by then. */
const OWN_TIME = 'deadline_exceeded';

const STATUS: Readonly<Record<string, number>> = {
  ...{
    invalid_argument: 400,
    failed_precondition: 400,
    out_of_range: 400,
    unauthenticated: 401,
    permission_denied: 403,
  },
  ...{
    not_found: 404,
    aborted: 409,
    already_exists: 409,
    resource_exhausted: 429,
    unimplemented: 501,
    unavailable: 503,
  },
};

/** One message of a stream, in the frame of Connect: a byte of flags, the length, and JSON. */
export function framed(body: unknown): Uint8Array<ArrayBuffer> {
  const message = Buffer.from(JSON.stringify(body));
  const frame = new Uint8Array(5 + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, 5);
  return frame;
}

/** The messages as text, and the status that the same answer would have outside of a stream. */
export function unframed(bytes: Buffer): { text: string; status: number } {
  const texts: string[] = [];
  for (let from = 0; from + 5 <= bytes.length; ) {
    const end = from + 5 + bytes.readUInt32BE(from + 1);
    texts.push(bytes.toString('utf8', from + 5, end));
    from = end;
  }
  const { error } = JSON.parse(texts.at(-1) ?? '{}') as { error?: { code: string } };
  const status = error === undefined || error.code === OWN_TIME ? 200 : (STATUS[error.code] ?? 500);
  return { text: texts.join('\n'), status };
}
