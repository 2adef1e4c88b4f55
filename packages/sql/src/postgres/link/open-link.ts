import { randomUUID } from 'node:crypto';
import { type Clock, type GrownListener, type Logger, Places, type WakeListener, WaybillError } from '@waybill/core';
import { Connections, type Queryable } from './connections.ts';
import { loadDriver, typesOf } from './driver.ts';
import { errorOf, faultOf, plain } from './failures.ts';
import type { Link, TransactionOptions } from './link.ts';
import { Listener } from './listener.ts';
import { migrate } from './migrate.ts';
import { channelOf, fillIn, grownChannelOf } from './names.ts';
import { checkSchema, DEFAULTS, listenConfig, type PostgresOptions, poolConfig, serverOf } from './options.ts';
import { Outages } from './outages.ts';
import { Patience } from './patience.ts';
import type { Pool, PoolClient } from './pg-types.ts';
import { ServerClock } from './server-clock.ts';

/** How long a new store waits for a first answer before it says so. */
const SILENT_MS = 1_000;

export async function openLink(options: PostgresOptions): Promise<Link> {
  const settings = { ...DEFAULTS, ...options };
  const schema = checkSchema(settings.schema);
  const driver = await loadDriver();
  const pool = options.pool ?? new driver.Pool(poolConfig(options));
  const sharedTimeoutMs = options.pool ? settings.connectTimeoutMs : null;
  const connections = new Connections(pool, typesOf(driver), settings.queryTimeoutMs, sharedTimeoutMs);
  const listener = (told: Told): Listener | null =>
    settings.listen
      ? new Listener({
          ...told,
          connect: () => new driver.Client(listenConfig(options)),
          channel: channelOf(schema),
          grownChannel: grownChannelOf(schema),
          queryTimeoutMs: settings.queryTimeoutMs,
          logger: settings.logger,
        })
      : null;
  const link = new PostgresLink({
    ...settings,
    schema,
    pool,
    connections,
    listener,
    server: serverOf(options),
    ownsPool: options.pool === undefined,
  });
  try {
    await link.open(settings.migrate);
    return link;
  } catch (error) {
    await link.close();
    throw error;
  }
}

interface Told {
  name: string;
  onWake: WakeListener;
  onGrown: GrownListener;
}

interface Parts {
  schema: string;
  pool: Pool;
  connections: Connections;
  listener: (told: Told) => Listener | null;
  logger: Logger;
  /** For messages. */
  server: string;
  patienceMs: number;
  queryTimeoutMs: number;
  clock?: Clock;
  ownsPool: boolean;
}

class PostgresLink implements Link {
  readonly schema: string;
  readonly clock: Clock;
  readonly name = randomUUID().slice(0, 8);
  readonly listens: boolean;
  readonly #parts: Parts;
  readonly #outages: Outages;
  readonly #listener: Listener | null;
  readonly #listeners = new Set<WakeListener>();
  readonly #followers = new Set<GrownListener>();
  readonly #closing = new AbortController();
  /** Aborted when calls are repeated no longer. */
  readonly #impatient = new AbortController();
  #patientUntil: ReturnType<typeof setTimeout> | undefined;
  readonly #serverClock: ServerClock | null;
  readonly #calls = new Places<Promise<unknown>>();
  #closed: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.schema = parts.schema;
    this.#serverClock = parts.clock ? null : new ServerClock(() => this.#askTime());
    // Another server may have taken over, with a clock of its own.
    this.#outages = new Outages(parts.logger, () => this.#serverClock?.measureSoon(), parts.server);
    this.clock = parts.clock ?? this.#serverClock!;
    this.#listener = parts.listener({
      name: this.name,
      onWake: (queues) => this.wake(queues),
      onGrown: (ids) => this.grown(ids),
    });
    this.listens = this.#listener !== null;
    parts.pool.on('error', this.#idleConnectionLost);
  }

  async open(isToMigrate: boolean): Promise<void> {
    await this.#reach();
    if (isToMigrate) await migrate(this, this.#parts.logger);
    await this.#serverClock?.start();
  }

  sql(text: string): string {
    return fillIn(text, this.schema);
  }

  prepare(texts: readonly string[]): Promise<void> {
    return this.#patiently((client) => this.#parts.connections.prepare(client, texts));
  }

  query<R extends unknown[]>(text: string, values?: readonly unknown[]): Promise<R[]> {
    const { connections } = this.#parts;
    return this.#patiently((client) => connections.query<R>(client, text, values));
  }

  search<R extends unknown[]>(text: string, values: readonly unknown[], timeoutMs: number): Promise<R[]> {
    const { connections, queryTimeoutMs } = this.#parts;
    const most = Math.min(timeoutMs, queryTimeoutMs);
    return this.#patiently((client) => connections.query<R>(client, text, values, most), slowSearch(most));
  }

  async queryIfFree(text: string, values?: readonly unknown[]): Promise<boolean> {
    if (!this.#parts.connections.hasFree()) return false;
    // Asks the pool before anything else runs in this turn, so the connection is still free.
    await this.query(text, values);
    return true;
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { connections, patienceMs, queryTimeoutMs } = this.#parts;
    // However many statements it has: whoever waits for it counts on an answer.
    const wholeMs = patienceMs + (options.timeoutMs ?? queryTimeoutMs);
    return this.#patiently((client) => connections.transaction(client, work, { wholeMs, ...options }));
  }

  onWake(listener: WakeListener): () => void {
    // Wrapped, so that the same function may subscribe twice.
    const own: WakeListener = (queues) => listener(queues);
    this.#listeners.add(own);
    this.#listener?.start();
    return () => this.#listeners.delete(own);
  }

  wake(queues?: readonly string[]): void {
    this.#tell(this.#listeners, queues);
  }

  onGrown(listener: GrownListener): () => void {
    const own: GrownListener = (ids) => listener(ids);
    this.#followers.add(own);
    if (this.#followers.size === 1) this.#listener?.follow(true);
    return () => {
      if (this.#followers.delete(own) && this.#followers.size === 0) this.#listener?.follow(false);
    };
  }

  grown(ids?: readonly string[]): void {
    this.#tell(this.#followers, ids);
  }

  closeSoon(): void {
    this.#patientUntil ??= setTimeout(() => this.#impatient.abort(), this.#parts.queryTimeoutMs).unref();
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAwake();
    return this.#closed;
  }

  #tell(listeners: Iterable<(names?: readonly string[]) => void>, names?: readonly string[]): void {
    for (const listener of listeners) {
      try {
        listener(names);
      } catch (error) {
        this.#parts.logger.error({ error }, 'A listener of the PostgreSQL store failed.');
      }
    }
  }

  /** Idle connections keep no process alive, so it would end in the middle of waiting for them to close. */
  async #closeAwake(): Promise<void> {
    const awake = setInterval(() => {}, 1_000);
    try {
      await this.#close();
    } finally {
      clearInterval(awake);
    }
  }

  /** Calls under way are waited for; those that wait for a server that is away are given up. */
  async #close(): Promise<void> {
    this.#closing.abort();
    this.#impatient.abort();
    clearTimeout(this.#patientUntil);
    this.#serverClock?.stop();
    await this.#listener?.close();
    await Promise.allSettled(this.#calls.all());
    const { pool, connections, ownsPool } = this.#parts;
    // Our own pool keeps its listeners: its last connections may break while they are being closed.
    if (ownsPool) return pool.end();
    pool.off('error', this.#idleConnectionLost);
    connections.leave();
  }

  /** `slow`: what to throw where the work was too slow, instead of repeating it. */
  async #patiently<T>(work: (client: PoolClient) => Promise<T>, slow?: WaybillError): Promise<T> {
    if (this.#closing.signal.aborted) throw new WaybillError('unavailable', 'The store is closed.');
    if (this.#impatient.signal.aborted && this.#outages.isOpen) throw givenUp(this.#parts.server);
    const call = this.#repeat(work, new Patience(this.#parts.patienceMs, this.#impatient.signal), slow);
    const place = this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.take(place);
    }
  }

  async #repeat<T>(work: (client: PoolClient) => Promise<T>, patience: Patience, slow?: WaybillError): Promise<T> {
    const { connections, server } = this.#parts;
    for (;;) {
      try {
        const result = await connections.use(work);
        this.#outages.succeeded();
        return result;
      } catch (error) {
        const { kind } = faultOf(error);
        if (kind === undefined) throw errorOf(error, server);
        if (kind === 'slow' && slow) throw slow;
        this.#outages.failed(kind, error);
        if (!(await patience.wait())) throw errorOf(error, server);
      }
    }
  }

  /** A server that neither answers nor refuses is told of long before the attempt to connect is given up. */
  async #reach(): Promise<void> {
    const { logger, server, patienceMs } = this.#parts;
    const told = setTimeout(() => {
      if (this.#outages.isOpen) return;
      const seconds = Math.round(patienceMs / 1_000);
      const hint = 'Check the host and the port in the address, and the firewall.';
      logger.warn({ hint }, `PostgreSQL has not answered yet (${server}). It is tried again for up to ${seconds} s.`);
    }, SILENT_MS);
    try {
      await this.query('select 1');
    } finally {
      clearTimeout(told);
    }
  }

  async #askTime(): Promise<number> {
    const [row] = await this.query<[number]>('select extract(epoch from clock_timestamp())::float8 * 1000');
    return row![0];
  }

  /** The pool replaces it by itself; whoever needs the server next learns whether it is away. */
  readonly #idleConnectionLost = (error: Error): void => {
    this.#parts.logger.debug({ cause: plain(error) }, 'An idle connection to PostgreSQL was lost.');
  };
}

const givenUp = (server: string): WaybillError =>
  new WaybillError('unavailable', `PostgreSQL is away, and the store is being closed. (${server})`);

const slowSearch = (ms: number): WaybillError =>
  new WaybillError('timeout', `The search was given up after ${ms} ms: it looked at too many jobs and found too few.`, {
    hint: 'Ask for a state, a queue or a time of creation, so that fewer jobs have to be looked at.',
  });
