import type { Json } from '@waybill/core';
import type { AskOptions, TaskContext } from '../context.ts';
import { Ending } from '../execute/ending.ts';
import { type ChannelError, type ChildEnd, channelError, type FromChild, type ToChild, WAITS } from './channel.ts';

type Word = Exclude<FromChild, ChildEnd>;
type Call = Extract<Word, { id: number }>;

/**
 * Passes what a child says on to the context of its run. Code of the user's own may have written the line, so a line that
 * makes no sense is answered, where there is a call to answer, and ends nothing.
 */
export function hearChild(message: Word, context: TaskContext, answer: (line: ToChild) => void): void {
  if ('id' in message) {
    const { id } = message;
    void call(message, context).then(
      (value) => answer({ kind: 'answer', id, value }),
      (error: unknown) => answer({ kind: 'answer', id, error: shownError(error) }),
    );
    return;
  }
  try {
    tell(message, context);
  } catch (error) {
    const fields = { reason: shownError(error).message };
    context.log('A message of the isolated process was refused.', fields, { level: 'warn' });
  }
}

function tell(message: Exclude<Word, Call>, context: TaskContext): void {
  if (message.kind === 'progress') context.progress(message.fraction, message.detail);
  else if (message.kind === 'checkpoint') context.checkpoint(message.state);
  else if (message.kind === 'output') context.output(Buffer.from(message.bytes, 'base64'), message.options);
  else if (message.kind === 'log') context.log(message.message, message.fields, message.options);
}

async function call(message: Call, context: TaskContext): Promise<Json> {
  if (message.kind === 'ask') return ask(message.question, context);
  if (message.kind === 'spend') return (await context.spend(message.amounts, { key: message.key })) as unknown as Json;
  if (message.kind === 'file-get') {
    const bytes = await context.files.get(message.name);
    return bytes === null ? null : Buffer.from(bytes).toString('base64');
  }
  if (message.kind === 'file-put') await context.files.put(message.name, Buffer.from(message.bytes, 'base64'));
  else await context.emit(message.name, message.data, message.options);
  return null;
}

/** The run has ended for the question; the process ends when it is told so. */
async function ask(question: AskOptions, context: TaskContext): Promise<Json> {
  try {
    return { ...(await context.ask(question)) };
  } catch (error) {
    if (error instanceof Ending) return WAITS;
    throw error;
  }
}

const shownError = (error: unknown): ChannelError =>
  error instanceof Error ? channelError(error) : { name: 'Error', message: String(error) };
