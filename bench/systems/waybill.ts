import { type EngineOptions, engine, type JobState, type Waybill } from '@waybill/core';
import { type Middleware, task, Worker } from 'waybill';
import { openStoreAt } from '../embedded.ts';
import { type BenchQueue, type Payload, QUEUE, type System, TYPE } from '../queue.ts';

const FAST = { concurrency: 100, prefetch: 300 };
/** A claim costs a round trip and a commit there, so it pays to take several hundred at once. */
const FAST_AFAR = { concurrency: 100, prefetch: 800 };
/** Fewer jobs in hand are fewer objects that every collection has to look at. */
const LEAN = { concurrency: 50, prefetch: 150 };
const WAITING: JobState[] = ['available', 'active', 'retryable', 'pending'];

const request = (payload: Payload, at?: Date) => ({
  type: TYPE,
  args: [payload],
  options: { queue: QUEUE, ...(at && { scheduled_at: at.toISOString() }) },
});

async function count(address: string, states: JobState[]): Promise<number> {
  const store = await openStoreAt(address);
  try {
    return await store.count({ tenant: '', queues: [QUEUE], states }, { atMost: Number.MAX_SAFE_INTEGER });
  } finally {
    await store.close();
  }
}

const handsFor = (address: string): typeof FAST => (/^postgres/.test(address) ? FAST_AFAR : FAST);

/** What stands around an engine and its worker, where they are watched. */
export interface Around {
  engine(options: EngineOptions): Waybill;
  middleware: readonly Middleware[];
  close(): Promise<void>;
}

/** Waybill as a user has it, on whatever store the address names. */
export async function open(
  address: string,
  hands = handsFor(address),
  keep?: 'none',
  around?: Around,
): Promise<BenchQueue> {
  const given = { store: await openStoreAt(address) };
  const waybill = around ? around.engine(given) : engine(given);
  const watched = around && { middleware: around.middleware };
  if (keep !== undefined) await waybill.queues.setKeep(QUEUE, keep);
  return {
    enqueue: (payload) => waybill.jobs.enqueue(request(payload)),
    enqueueMany: (payloads, at) => waybill.jobs.enqueueMany(payloads.map((payload) => request(payload, at))),
    work: async (began) => {
      const run = async (payload: Payload) => {
        began(payload);
        return null;
      };
      const tasks = [task(TYPE, { queue: QUEUE, run })];
      return new Worker({ jobs: waybill.jobs, tasks, ...hands, ...watched }).start();
    },
    busy: async () => {
      const { available, active, retryable, pending } = await waybill.queues.stats(QUEUE);
      return available + active + retryable + pending > 0;
    },
    counts: async () => ({ waiting: await count(address, WAITING), completed: await count(address, ['completed']) }),
    close: async () => {
      await waybill.close();
      await around?.close();
    },
  };
}

const told = ({ concurrency, prefetch }: typeof FAST): string => `concurrency ${concurrency}, prefetch ${prefetch}`;
export const toldFast = `${told(FAST)} (PostgreSQL: ${FAST_AFAR.prefetch})`;

export const waybill: System = {
  settings: `${toldFast}, history, events and fencing on`,
  keepsFinished: true,
  open: ({ store }) => open(store),
};

/** As `waybill`, in a process whose heap is kept small by flags of V8. */
export const waybillLean: System = {
  settings: `${told(LEAN)}, history, events and fencing on, small heap`,
  keepsFinished: true,
  open: ({ store }) => open(store, LEAN),
};

export const waybillKeepNone: System = {
  settings: `${toldFast}, keep: 'none', fencing on`,
  keepsFinished: false,
  open: ({ store }) => open(store, handsFor(store), 'none'),
};
