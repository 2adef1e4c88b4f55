import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;

/** An idle process that measures how late the machine makes any process, and writes that when its stdin ends. */
const CONTROL = `
  const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} });
  delay.enable();
  process.stdout.write('ready ');
  process.stdin.on('end', () => process.stdout.write(String(delay.max / 1e6 - ${RESOLUTION_MS})));
  process.stdin.resume();
`;

export interface LoopDelay<Value> {
  value: Value;
  /** The longest time that a timer of this process was late, in milliseconds. */
  lateMs: number;
  /** The same of an idle process beside it, for which only the machine is to blame. */
  idleMs: number;
}

/** Measures the event loop of this process while `work` runs, beside that of an idle process. */
export async function loopDelayOf<Value>(work: () => Promise<Value>): Promise<LoopDelay<Value>> {
  const control = spawn(process.execPath, ['-e', CONTROL], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  control.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(control.stdout, 'data');
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  try {
    const value = await work();
    delay.disable();
    control.stdin.end();
    await once(control, 'close');
    return { value, lateMs: delay.max / 1e6 - RESOLUTION_MS, idleMs: Number(said.slice('ready '.length)) };
  } finally {
    control.kill();
  }
}
