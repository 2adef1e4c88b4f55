/** A program with everything that it may see and use. */
export interface ContainedProgram {
  /** The program and its arguments; looked up by the PATH in `env`. */
  command: readonly [string, ...string[]];
  cwd: string;
  /** All of its environment: nothing of the worker's is added but the mark. */
  env: Readonly<Record<string, string>>;
  /** Written to stdin, which is closed after it. @defaultValue nothing */
  stdin?: string;
  /** Whether descriptor 3 is a channel of lines in both directions. @defaultValue false */
  channel?: boolean;
  limits: ProcessLimits;
  /** Told apart from every other run on this machine: value of WAYBILL_RUN in the environment of all its descendants. */
  mark: string;
  /** Where its memory limit may be kept by the kernel; false: nowhere. @defaultValue as the service manager has left it to us */
  cgroup?: string | false;
  /** The user it runs as; only root can choose. @defaultValue that of the worker */
  user?: { uid: number; gid: number };
}

export interface ProcessLimits {
  /** From the start on. */
  timeoutMs?: number;
  /** Resident memory of the whole tree. */
  memoryBytes?: number;
  /** Of user and system time, of the whole tree. */
  cpuMs?: number;
  /** Of stdout and stderr together. */
  maxOutputBytes: number;
  /** Of all lines on the channel together that are not read as they come, and of one line. */
  maxLineBytes: number;
  /** Between SIGTERM and SIGKILL. */
  killAfterMs: number;
}

export type OutputStream = 'stdout' | 'stderr';

/** What the owner of a process hears while it runs. What a hook throws is the owner's mistake: it ends nothing. */
export interface ContainedHooks {
  /** Bytes as they came, up to the limit. The chunk is the hook's own. */
  onOutput?(chunk: Buffer, stream: OutputStream): void;
  /**
   * One line of the channel, without its line end. Where it answers a promise, the line counts as held until that resolves;
   * with `maxLineBytes` of them held no more is read, so that a process waits that calls faster than it is answered.
   */
  onLine?(line: string): unknown;
}

/** Why the owner ends a process. */
export type EndCause = 'cancelled' | 'timeout' | 'lost' | 'invalid_result';

/** The worker stood still for so long that its watchdog has ended the process. */
export const WORKER_STOPPED = 'worker_stopped';

export interface ContainedProcess {
  /** Null where it could not be started. */
  readonly pid: number | null;
  /** False from its exit on, which is before `ended`. */
  readonly isRunning: boolean;
  /** Writes a line to the channel; does nothing once that is closed. */
  send(line: string): void;
  /**
   * SIGTERM to the whole tree, SIGKILL after `killAfterMs`; the first cause stands. With `after`, that many milliseconds
   * later, so that a program that was told by the channel can end by itself.
   */
  end(cause: EndCause, after?: number): void;
  /**
   * The process may run so many milliseconds more without another call. Then it is killed, also where this process stands still
   * and can do nothing. Without a call it may run for ever.
   */
  keepFor(ms: number): void;
  /** SIGKILL to the whole tree at once. */
  kill(cause: EndCause): void;
  usage(): ProcessUsage;
  /** Resolves when no process of the tree is left and all output was heard. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
}

export interface ProcessUsage {
  elapsedMs: number;
  /** Now, of the tree. */
  memoryBytes: number;
  peakMemoryBytes: number;
  cpuMs: number;
  outputBytes: number;
  /** Milliseconds since the last byte of output or line of the channel. */
  quietMs: number;
}

/** How the process ended; 'exited' is the exit code 0. The owner makes 'completed', 'failed' or 'invalid_result' of it. */
export type ProcessOutcome =
  | 'exited'
  | 'nonzero'
  | 'signal'
  | 'timeout'
  | 'oom'
  | 'cpu_limit'
  | 'output_limit'
  | 'spawn_failed'
  | typeof WORKER_STOPPED
  | EndCause;

export interface ProcessEnd {
  outcome: ProcessOutcome;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  usage: ProcessUsage;
  /** The last 64 KB of stdout and stderr, as they came, as text. */
  lastOutput: string;
  /** For an operator: what happened, in a sentence, with the limit and the value that broke it. */
  message: string;
}
