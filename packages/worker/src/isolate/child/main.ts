// The entry of the process that runs a module for one run: it loads the module, waits for the run, and ends with it.
import { inspect } from 'node:util';
import { withoutSecrets } from '@waybill/core';
import { isError } from '../../execute/failure.ts';
import { toJson } from '../../jsonified.ts';
import { type ChildEnd, channelError, type RunFacts } from '../channel.ts';
import { ChildContext, ChildEnding } from './child-context.ts';
import { type Handler, loadHandler } from './load-handler.ts';
import { ParentLink } from './parent-link.ts';

let context: ChildContext | undefined;
let handler: Promise<Handler> | undefined;
let isOver = false;

const link = new ParentLink((message) => {
  if (message.kind === 'load') load(message.module, message.task);
  else if (message.kind === 'abort') context?.abort(message.code, message.message);
  else void run(message.input, message.isMade, message.facts);
});

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    // What it prints is kept, and an error may hold an address with its password.
    process.stderr.write(`${withoutSecrets(inspect(error))}\n`);
    void end(thrown(error), 1);
  });
}

function load(module: string, task: string): void {
  handler = loadHandler(module, task);
  handler.then(
    () => link.tell({ kind: 'ready' }),
    // Told by the run, which is what must fail; a process without one has no job to tell of.
    () => {},
  );
}

async function run(input: Parameters<Handler>[0], isMade: boolean, facts: RunFacts): Promise<void> {
  Object.assign(process.env, facts.env);
  context = new ChildContext(facts, link);
  try {
    const call = await handler!;
    const value = await call(input, context, isMade);
    await end(context.asked ?? returned(value), 0);
  } catch (error) {
    await end(context.asked ?? (error instanceof ChildEnding ? error.end : thrown(error)), 0);
  }
}

function returned(value: unknown): ChildEnd {
  const answer = toJson(value);
  return answer.ok ? { kind: 'returned', value: answer.value } : { kind: 'foreign', problem: answer.problem };
}

function thrown(error: unknown): ChildEnd {
  if (isError(error)) return { kind: 'threw', error: channelError(error) };
  const answer = toJson(error);
  return { kind: 'threw-value', value: answer.ok ? answer.value : String(error) };
}

/** The first end counts. The process may have handles open, which must not keep it. */
async function end(message: ChildEnd, exitCode: number): Promise<void> {
  if (isOver) return;
  isOver = true;
  await link.tellLast(message);
  process.exit(exitCode);
}
