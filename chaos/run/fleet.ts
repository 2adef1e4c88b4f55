import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, CAST } from '../actors/cast.ts';
import type { ActorSettings } from '../actors/settings.ts';
import type { Pace } from '../actors/timing.ts';
import type { Ending } from '../evidence/evidence.ts';
import { Link, type LinkMode } from '../network/link.ts';
import { fileAt, scriptAt } from '../paths.ts';
import type { Fault, LinkFault, StoreFault } from '../plan/fault.ts';
import type { OpenStore } from '../stores/store.ts';
import { ActorProcess } from './actor-process.ts';
import type { Guard } from './guard.ts';

export interface FleetParts {
  store: OpenStore;
  guard: Guard;
  folder: string;
  seed: string;
  pace: Pace;
  jobsPerSecond: number;
}

const MODES: Readonly<Record<Exclude<LinkFault, 'reset'>, LinkMode>> = {
  'lose-answers': 'lose',
  stall: 'stall',
  'black-hole': 'swallow',
};

const SERVER = /^waybill ready on (\S+)/m;
const OTHER = /^ready$/m;

/** All processes of a run and the links between them. */
export class Fleet {
  readonly endings: Ending[] = [];
  readonly #parts: FleetParts;
  readonly #actors = new Map<string, ActorProcess>();
  readonly #links = new Map<string, Link>();
  #isStoreDown = false;

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  /** Resolves when every process is ready. */
  async start(): Promise<void> {
    for (const actor of CAST) {
      const link = await this.#linkFor(actor);
      if (link) this.#links.set(actor.name, link);
      this.#actors.set(actor.name, this.#processOf(actor));
    }
    for (const actor of this.#actors.values()) actor.start();
    await Promise.all([...this.#actors.values()].map((actor) => actor.up()));
  }

  /** Resolves when the fault is over; false: its target was not there to be hit. */
  async inject({ kind, target, lastsMs }: Fault): Promise<boolean> {
    const actor = this.#actors.get(target);
    const link = this.#links.get(target);
    switch (kind) {
      case 'kill':
        return actor!.kill(lastsMs);
      case 'terminate':
        return actor!.terminate(lastsMs);
      case 'pause':
      case 'long-pause':
        return actor!.pause(lastsMs);
      case 'reset':
        link!.reset();
        return true;
      case 'lose-answers':
      case 'stall':
      case 'black-hole':
        link!.mode = MODES[kind];
        await sleep(lastsMs);
        link!.mode = 'pass';
        return true;
      default:
        return this.#injectStore(kind, lastsMs);
    }
  }

  /** A database may take longer to come back than was planned; then the next fault finds it gone. */
  async #injectStore(kind: StoreFault, lastsMs: number): Promise<boolean> {
    const { store } = this.#parts;
    if (this.#isStoreDown || store.leftOut[kind] !== undefined) return false;
    this.#isStoreDown = true;
    await store.inject(kind, lastsMs);
    this.#isStoreDown = false;
    return true;
  }

  /** Everything passes, and everybody is there. */
  async heal(): Promise<void> {
    for (const link of this.#links.values()) link.heal();
    await Promise.all([...this.#actors.values()].map((actor) => actor.up()));
  }

  /** Tells these to end, and waits for it. */
  async stop(...roles: Actor['role'][]): Promise<void> {
    const chosen = [...this.#actors.values()].filter(({ actor }) => roles.includes(actor.role));
    await Promise.all(chosen.map((actor) => actor.stop()));
  }

  /** Nobody is started again, and nothing gets through. What still runs is ended by the guard. */
  async close(): Promise<void> {
    for (const actor of this.#actors.values()) actor.isOver = true;
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  async #linkFor({ upstream }: Actor): Promise<Link | undefined> {
    const { target } = this.#parts.store;
    if (upstream === 'store') return target && Link.open(() => target);
    return Link.open(() => {
      const port = this.#actors.get(upstream)?.port;
      return port === undefined ? undefined : { host: '127.0.0.1', port };
    });
  }

  #urlFor({ name, upstream }: Actor): string {
    const { store } = this.#parts;
    const link = this.#links.get(name);
    if (link === undefined) return store.url;
    return upstream === 'store' ? store.urlVia(link.port) : `http://127.0.0.1:${link.port}`;
  }

  #processOf(actor: Actor): ActorProcess {
    const { guard, folder, store } = this.#parts;
    const onEnd = (ending: Ending) => this.endings.push(ending);
    const ready = actor.role === 'server' ? SERVER : OTHER;
    return new ActorProcess(actor, {
      guard,
      folder,
      env: store.env,
      ready,
      onEnd,
      argsOf: (life) => this.#argsOf(actor, life),
    });
  }

  #argsOf(actor: Actor, life: string): string[] {
    const url = this.#urlFor(actor);
    if (actor.role === 'server')
      return [fileAt('packages/waybill/bin/waybill.js'), 'serve', '--store', url, '--port', '0'];
    const { folder, seed, pace, jobsPerSecond } = this.#parts;
    const producers = CAST.filter(({ role }) => role === 'producer').length;
    const settings: ActorSettings = {
      ...{ life, url, seed, pace },
      journal: path.join(folder, 'journals', `${life}.jsonl`),
      jobsPerSecond: jobsPerSecond / producers,
    };
    return [scriptAt(`actors/${actor.role}`), JSON.stringify(settings)];
  }
}
