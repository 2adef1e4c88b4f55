import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import {
  type ContainedHooks,
  type ContainedProcess,
  type ContainedProgram,
  type EndCause,
  type ProcessEnd,
  type ProcessUsage,
  WORKER_STOPPED,
} from '../contained.ts';
import { type Cause, Ladder } from './ladder.ts';
import { LineChannel } from './line-channel.ts';
import type { MemoryGroup } from './memory-group.ts';
import { decideOutcome } from './outcome.ts';
import { OutputReader } from './output-reader.ts';
import { readOomKills, readStat } from './proc-files.ts';
import { ProcessTree } from './process-tree.ts';
import { LONGEST_TIMER_MS } from './quantities.ts';
import { UsageMeter } from './usage-meter.ts';
import { watchdog } from './watchdog.ts';

/** How long the streams may stay open when no process is known that could write to them. */
const DRAIN_MS = 300;

/** A program from its start to the end of the last process of its tree. */
export class RunningProcess implements ContainedProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #program: ContainedProgram;
  readonly #tree: ProcessTree;
  readonly #group: MemoryGroup | null;
  readonly #ladder: Ladder;
  readonly #meter: UsageMeter;
  readonly #output: OutputReader;
  readonly #channel: LineChannel | null;
  readonly #startedAt = performance.now();
  readonly #oomKills = readOomKills();
  #heardAt = this.#startedAt;
  #endedAt: number | null = null;
  #exited = false;
  #keptUntil = Number.POSITIVE_INFINITY;

  constructor(
    child: ChildProcess,
    pid: number,
    program: ContainedProgram,
    hooks: ContainedHooks,
    group: MemoryGroup | null = null,
  ) {
    const { limits } = program;
    this.pid = pid;
    this.#child = child;
    this.#program = program;
    this.#group = group;
    this.#tree = new ProcessTree(program.mark, pid, group);
    this.#ladder = new Ladder(this.#tree, limits.killAfterMs);
    this.#meter = new UsageMeter(this.#tree, limits, (cause) => this.#kill(cause), group);

    const breach = (cause: Cause) => this.#ladder.kill(cause);
    const hear = <Heard extends unknown[], Answer>(hook: ((...heard: Heard) => Answer) | undefined) => {
      return (...heard: Heard): Answer | undefined => {
        this.#heardAt = performance.now();
        try {
          return hook?.(...heard);
        } catch {
          // A mistake of the owner, not of the program.
          return undefined;
        }
      };
    };
    this.#output = new OutputReader(limits.maxOutputBytes, hear(hooks.onOutput?.bind(hooks)), breach);
    this.#output.read(child.stdout!, 'stdout');
    this.#output.read(child.stderr!, 'stderr');
    const socket = child.stdio[3] as Duplex | null;
    this.#channel = socket && new LineChannel(socket, limits.maxLineBytes, hear(hooks.onLine?.bind(hooks)), breach);
    // EPIPE when the program ends without reading all of it, which it may do.
    child.stdin?.on('error', () => {});
    child.stdin?.end(program.stdin);
    this.ended = this.#run();
  }

  get isRunning(): boolean {
    return !this.#exited && readStat(this.pid)?.zombie !== true;
  }

  send(line: string): void {
    this.#channel?.send(line);
  }

  end(cause: EndCause, after = 0): void {
    if (!this.#isOver()) this.#ladder.end(this.#causeOf(cause), after);
  }

  keepFor(ms: number): void {
    if (this.#isOver() || this.#isLate()) return;
    this.#keptUntil = performance.now() + ms;
    watchdog.keepFor(this.pid, this.#program.mark, ms);
  }

  kill(cause: EndCause): void {
    this.#kill(this.#causeOf(cause));
  }

  usage(): ProcessUsage {
    const now = this.#endedAt ?? performance.now();
    return {
      elapsedMs: now - this.#startedAt,
      memoryBytes: this.#endedAt === null ? this.#meter.memoryBytes : 0,
      peakMemoryBytes: this.#meter.peakMemoryBytes,
      cpuMs: this.#meter.cpuMs,
      outputBytes: this.#output.bytes,
      quietMs: now - this.#heardAt,
    };
  }

  /** What this process is told now, it would have done before the watchdog had to. */
  #causeOf(cause: EndCause): Cause {
    return this.#isLate() ? workerStopped : { outcome: cause, message: endedByWorker(cause) };
  }

  #isLate(): boolean {
    return performance.now() > this.#keptUntil;
  }

  #kill(cause: Cause): void {
    if (!this.#isOver()) this.#ladder.kill(cause);
  }

  /** It ended by itself, so no cause of ours may replace what it came to. */
  #isOver(): boolean {
    return this.#endedAt !== null || (this.#exited && this.#ladder.cause === null);
  }

  async #run(): Promise<ProcessEnd> {
    const { timeoutMs } = this.#program.limits;
    const timeout =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => this.#ladder.end(timedOut(timeoutMs), 0), Math.min(timeoutMs, LONGEST_TIMER_MS));
    const closed = once(this.#child, 'close');
    const [exitCode, signal] = (await once(this.#child, 'exit')) as [number | null, NodeJS.Signals | null];
    this.#exited = true;
    const wasLate = this.#isLate();
    this.#channel?.over();
    clearTimeout(timeout);
    const left = await this.#ladder.finish();
    this.#meter.stop();
    await this.#drain(closed);
    // Not of a program that was killed: its last line may be the half of one.
    if (this.#ladder.cause === null && signal === null) this.#channel?.finish();
    this.#tree.forget();
    this.#endedAt = performance.now();
    const lastOutput = this.#output.tail.text();
    const byWatchdog = signal === 'SIGKILL' && wasLate ? workerStopped : null;
    const { outcome, message } = decideOutcome({
      cause: this.#ladder.cause ?? byWatchdog,
      exitCode,
      signal,
      limits: this.#program.limits,
      lastOutput,
      memoryBytes: this.#meter.memoryBytes,
      hostKilledForMemory: readOomKills() > this.#oomKills,
      groupKilledForMemory: (this.#group?.oomKills ?? 0) > 0,
    });
    this.#group?.remove();
    const rest = left.length === 0 ? '' : ` These processes did not end by SIGKILL: ${left.join(', ')}.`;
    return { outcome, exitCode, signal, usage: this.usage(), lastOutput, message: message + rest };
  }

  /** A process that nothing led us to may hold the streams for ever, so they are closed after a while. */
  async #drain(closed: Promise<unknown>): Promise<void> {
    const timer = setTimeout(() => {
      // After the event loop has read what waited there, in case it was late.
      setImmediate(() => {
        for (const stream of this.#child.stdio) stream?.destroy();
      });
    }, DRAIN_MS);
    await closed;
    clearTimeout(timer);
  }
}

const timedOut = (timeoutMs: number): Cause => ({
  outcome: 'timeout',
  message: `The program ran longer than its limit of ${timeoutMs} ms.`,
});

const workerStopped: Cause = {
  outcome: WORKER_STOPPED,
  message: 'The worker stood still for too long to keep its lease, so its watchdog ended the program.',
};

const endedByWorker = (cause: EndCause): string => `The worker ended the program: ${cause}.`;
