import { type Clock, type Queues, WaybillError } from '@waybill/core';

/** How long an answer serves all who begin to wait. */
const REMEMBERED_MS = 1_000;

type Names = Promise<ReadonlySet<string>>;

/** Which queues keep nothing of jobs that complete, so that nobody can wait for a result there. */
export class ForgetfulQueues {
  readonly #queues: Pick<Queues, 'list'>;
  readonly #clock: Clock;
  readonly #known = new Map<string | undefined, { names: Names; until: number }>();

  constructor(queues: Pick<Queues, 'list'>, clock: Clock) {
    this.#queues = queues;
    this.#clock = clock;
  }

  async has(tenant: string | undefined, queue: string): Promise<boolean> {
    const known = this.#known.get(tenant);
    if (known && this.#clock.monotonic() < known.until) return (await known.names).has(queue);
    const names = this.#ask(tenant);
    this.#known.set(tenant, { names, until: this.#clock.monotonic() + REMEMBERED_MS });
    // A refusal is the answer of those who asked meanwhile, and of nobody else.
    names.catch(() => this.#known.delete(tenant));
    return (await names).has(queue);
  }

  async #ask(tenant: string | undefined): Names {
    const all = await this.#queues.list(tenant === undefined ? {} : { tenant }).catch((error: unknown) => {
      // gRPC does not tell of queues. A wait there is not refused at once, and ends when the row is gone, or by its timeout.
      if (WaybillError.from(error).code === 'unsupported') return [];
      throw error;
    });
    return new Set(all.filter(({ keep }) => keep === 'none').map(({ name }) => name));
  }
}

export const nothingToWaitFor = (id: string, queue: string): WaybillError =>
  new WaybillError(
    'unsupported',
    `Cannot wait for job ${id}: the queue '${queue}' keeps nothing of jobs that complete.`,
    {
      details: { job_id: id, queue },
      hint: `Let the queue keep its jobs (waybill queues keep ${queue} all), or let the handler store its result itself.`,
    },
  );
