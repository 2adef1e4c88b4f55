import type { Json, JsonObject } from '@waybill/core';
import type { TaskContext } from '../context.ts';

/** What a run of the contract's task does. */
export type Behaviour =
  | { does: 'return'; value: Json }
  | { does: 'tell-facts' }
  | { does: 'throw'; message: string; code: string }
  | { does: 'throw-text'; text: string }
  | { does: 'return-foreign' }
  | { does: 'report'; fraction: number; checkpoint: JsonObject }
  | { does: 'speak'; line: string }
  | { does: 'snooze'; ms: number }
  | { does: 'discard' | 'cancel'; reason: string }
  /** These three report progress when they have begun, and wait until they are aborted. */
  | { does: 'ignore-abort' | 'reject-at-abort' | 'return-at-abort' };

/** The handler of the contract's task. Imports nothing, so that a runner may load this file in another process. */
export async function behave(input: Behaviour, context: TaskContext): Promise<unknown> {
  switch (input.does) {
    case 'return':
      return input.value;
    case 'tell-facts':
      return { job: context.job.id, attempt: context.attempt, lastCheckpoint: context.lastCheckpoint };
    case 'throw':
      throw Object.assign(new Error(input.message), { code: input.code });
    case 'throw-text':
      throw input.text;
    case 'return-foreign':
      return { rate: Number.NaN };
    case 'report':
      return report(input, context);
    case 'speak':
      return speak(input.line, context);
    case 'snooze':
      return context.snooze(input.ms);
    case 'discard':
      return context.discard(input.reason);
    case 'cancel':
      return context.cancel(input.reason);
    default:
      return untilAborted(input.does, context);
  }
}

/** Says three things in this order; the second is critical, and nobody waits for it. */
function speak(line: string, context: TaskContext): null {
  context.output(line, { stream: 'stderr' });
  void context.emit('process.ended', { exit_code: 0 });
  context.log('spoken', { line }, { level: 'warn' });
  return null;
}

/** The first run fails after its checkpoint; the second returns what it found. */
function report(input: Extract<Behaviour, { does: 'report' }>, context: TaskContext): unknown {
  if (context.lastCheckpoint !== null) return context.lastCheckpoint;
  context.progress(input.fraction, 'reported');
  context.checkpoint(input.checkpoint);
  throw new Error('The first run fails.');
}

function untilAborted(does: string, { signal, progress }: TaskContext): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => {
      if (does === 'return-at-abort') resolve('ended early');
      if (does === 'reject-at-abort') reject(new Error('ended by its signal'));
    });
    progress(0.01, 'begun');
  });
}
