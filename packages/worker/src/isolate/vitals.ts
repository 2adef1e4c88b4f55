import type { TaskContext } from '../context.ts';
import type { ReadonlyRunControl } from '../execute/runner.ts';
import type { ContainedProcess } from './contained.ts';
import type { IsolatedProgram } from './isolated-program.ts';

/** With each extension of the lease, writes a `heartbeat` entry to the journal, and lets the process run on. */
export class Vitals {
  #number = 0;
  #isOver = false;

  /** `keepMs`: how long the process may run on without another extension. */
  constructor(
    running: ContainedProcess,
    program: IsolatedProgram,
    context: TaskContext,
    control: ReadonlyRunControl,
    keepMs: number,
  ) {
    running.keepFor(keepMs);
    control.onRenewed((leaseUntil) => {
      if (this.#isOver) return;
      running.keepFor(keepMs);
      this.#number += 1;
      const { elapsedMs, memoryBytes, peakMemoryBytes, cpuMs, quietMs } = running.usage();
      const entry = {
        number: this.#number,
        elapsed_ms: Math.round(elapsedMs),
        memory_bytes: memoryBytes,
        peak_memory_bytes: peakMemoryBytes,
        cpu_ms: Math.round(cpuMs),
        last_activity: { type: program.activity, ms_ago: Math.round(quietMs) },
        effective_until: leaseUntil,
      };
      void context.emit('heartbeat', entry).catch(() => {});
    });
  }

  end(): void {
    this.#isOver = true;
  }
}
