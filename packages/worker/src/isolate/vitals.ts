import type { TaskContext } from '../context.ts';
import type { ReadonlyRunControl } from '../execute/runner.ts';
import type { ContainedProcess } from './contained.ts';
import type { IsolatedProgram } from './isolated-program.ts';

/** Writes a `heartbeat` entry to the journal with each extension of the lease. */
export class Vitals {
  #number = 0;
  #isOver = false;

  constructor(running: ContainedProcess, program: IsolatedProgram, context: TaskContext, control: ReadonlyRunControl) {
    control.onRenewed((leaseUntil) => {
      if (this.#isOver) return;
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
