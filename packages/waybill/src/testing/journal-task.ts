import { task } from '@waybill/worker';

/** What each run says. */
export const ENTRIES = 100;
const AT_ONCE = 10;
/** So long that most runs are under way when a process is killed. */
const PAUSE_MS = 20;

export interface JournalWorkerSettings {
  url: string;
  outbox: string;
  leaseMs: number;
}

export interface JournalReaderSettings {
  url: string;
  jobs: string[];
  /** What it was told, one line each; it goes on behind the last one. */
  notes: string;
}

/** A line of the notes: an entry with the cursor that follows it, the end of a journal, or entries that were pruned. */
export interface ReaderNote {
  job: string;
  kind: 'entry' | 'end' | 'missed';
  cursor?: string;
  run?: number;
  sequence?: number;
  data?: unknown;
}

/** Says which entry of which run it is, so that entries of two runs cannot be taken for each other. */
export const sayingTask = () =>
  task('journal.saying', {
    queue: 'journal',
    // A job may lose its worker, or its server, time and again.
    retry: { max_attempts: 1_000, initial_interval: 'PT0.05S', max_interval: 'PT0.1S' },
    run: async (_input: { n: number }, { job, emit }) => {
      for (let n = 1; n <= ENTRIES; n += 1) {
        // The last of ten is awaited. Entries are sent in order, so a run with a stored last one has stored them all.
        const isLast = n % AT_ONCE === 0;
        const said = emit('step', { n, run: job.run }, { critical: isLast });
        if (!isLast) continue;
        await said;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    },
  });
