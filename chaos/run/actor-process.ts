import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../actors/cast.ts';
import type { Ending } from '../evidence/evidence.ts';
import { lifeOf } from '../evidence/note.ts';
import type { Guard } from './guard.ts';

export interface ActorParts {
  guard: Guard;
  folder: string;
  env: Record<string, string>;
  /** The command line of a life, behind `node`. */
  argsOf(life: string): string[];
  /** What it prints when it is there; the first group is its address, where it has one. */
  ready: RegExp;
  onEnd(ending: Ending): void;
}

/** How long a process may take to end after SIGTERM, whatever else goes wrong at that time. */
const TERM_MS = 60_000;
/** How long a process may take to come up when everything works. */
const UP_MS = 120_000;
const REVIVE_MS = 300;

/** A process that is started again whenever it ends, until it is told to stop. */
export class ActorProcess {
  readonly actor: Actor;
  readonly #parts: ActorParts;
  #child: ChildProcess | undefined;
  #life = 0;
  #isReady = false;
  #isPaused = false;
  /** What it was told to do, and how long it shall be down then. */
  #told: { how: 'killed' | 'terminated'; downMs: number } | undefined;
  #changed = new EventTarget();
  /** Whether it stays down when it ends. */
  isOver = false;
  /** Where it listens, while it does. */
  port: number | undefined;

  constructor(actor: Actor, parts: ActorParts) {
    this.actor = actor;
    this.#parts = parts;
  }

  /** What all its lives write to their stderr. */
  get #log(): string {
    return path.join(this.#parts.folder, 'logs', `${this.actor.name}.log`);
  }

  get isUp(): boolean {
    return this.#isReady && !this.#isPaused && this.#told === undefined;
  }

  /** Resolves when it is ready, for the first time or again. */
  async up(): Promise<void> {
    const late = AbortSignal.timeout(UP_MS);
    while (!this.isUp) {
      if (late.aborted) throw new Error(`${this.actor.name} has not come up within ${UP_MS / 1_000} s.`);
      await once(this.#changed, 'changed', { signal: late }).catch(() => {});
    }
  }

  start(): void {
    const { guard, env, argsOf, ready } = this.#parts;
    this.#life += 1;
    const log = openSync(this.#log, 'a');
    const child = spawn(process.execPath, argsOf(lifeOf(this.actor.name, this.#life)), {
      stdio: ['ignore', 'pipe', log],
      env: { ...process.env, ...env, WAYBILL_LOG: 'warn' },
      // Ctrl-C is for the command, which ends the others in order.
      detached: true,
    });
    closeSync(log);
    guard.watch(child);
    this.#child = child;
    let printed = '';
    child.stdout!.on('data', (chunk) => {
      if (this.#isReady) return;
      printed += String(chunk);
      const found = ready.exec(printed);
      if (!found) return;
      this.#isReady = true;
      if (found[1] !== undefined) this.port = Number(new URL(found[1]).port);
      this.#tell();
    });
    child.once('exit', (code, signal) => this.#ended(code, signal));
  }

  /** Without a warning. False: it was not there to be hit. */
  kill(downMs: number): boolean {
    return this.#signal('SIGKILL', { how: 'killed', downMs });
  }

  terminate(downMs: number): boolean {
    if (!this.#signal('SIGTERM', { how: 'terminated', downMs })) return false;
    void this.#insist(this.#child!);
    return true;
  }

  async pause(lastsMs: number): Promise<boolean> {
    const child = this.#child!;
    if (!this.isUp) return false;
    this.#isPaused = true;
    child.kill('SIGSTOP');
    await sleep(lastsMs);
    child.kill('SIGCONT');
    this.#isPaused = false;
    this.#tell();
    return true;
  }

  /** For good; resolves when it has ended. */
  async stop(): Promise<void> {
    await this.up();
    this.isOver = true;
    this.terminate(0);
    while (this.#child !== undefined) await once(this.#changed, 'changed');
  }

  #signal(signal: NodeJS.Signals, told: { how: 'killed' | 'terminated'; downMs: number }): boolean {
    if (!this.isUp) return false;
    this.#told = told;
    this.#child!.kill(signal);
    return true;
  }

  async #insist(child: ChildProcess): Promise<void> {
    await Promise.race([once(child, 'exit'), sleep(TERM_MS, undefined, { ref: false })]);
    child.kill('SIGKILL');
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const { how = 'died', downMs = REVIVE_MS } = this.#told ?? {};
    const life = lifeOf(this.actor.name, this.#life);
    const isForced = how === 'terminated' && signal === 'SIGKILL';
    const lastLine = isForced ? readFileSync(this.#log, 'utf8').trimEnd().split('\n').at(-1) : undefined;
    this.#parts.onEnd({
      ...{ life, how, code, signal, wasReady: this.#isReady, at: Date.now() },
      ...(lastLine && { lastLine }),
    });
    this.#isReady = false;
    this.#told = undefined;
    this.#child = undefined;
    this.port = undefined;
    this.#tell();
    setTimeout(() => this.isOver || this.start(), downMs).unref();
  }

  #tell(): void {
    this.#changed.dispatchEvent(new Event('changed'));
  }
}
