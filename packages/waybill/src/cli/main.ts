import { closest, WaybillError } from '@waybill/core';
import { shownWord } from '../connect/shown-address.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { commandHelp, groupHelp, overview } from './help.ts';
import { type Io, processIo } from './io.ts';
import { exitCodeOf, report } from './report.ts';
import { keepJobsYoung } from './v8-heap.ts';
import { version } from './version.ts';

export async function main(args: readonly string[]): Promise<void> {
  const code = await run(args, processIo());
  process.exitCode = code;
  // What the module of a worker holds open, such as a timer or a pool, would keep a command alive that has failed. The channel to
  // a process manager like PM2 would keep any command alive.
  const isHeld = process.channel !== undefined && process.channel !== null;
  if (!isHeld && (code === 0 || !MODULE_COMMANDS.includes(args[0] ?? ''))) return;
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
}

/** Commands that load a module of the user. */
const MODULE_COMMANDS: readonly string[] = ['work', 'dev'];

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });

/** One call of the command; answers its exit code. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let found: Found | undefined;
  try {
    const text = informationFor(args, helpWidth(io));
    if (text !== undefined) {
      io.stdout.write(text);
      return 0;
    }
    found = find(args);
    if (found.command.isServer) keepJobsYoung();
    return await found.command.run(found.rest, io);
  } catch (error) {
    report(error, io, found?.command.name);
    const code = exitCodeOf(error);
    return found?.command.isServer && code !== WRONG_USAGE ? 1 : code;
  }
}

const WRONG_USAGE = 2;

interface Found {
  command: Command;
  rest: readonly string[];
}

const isHelp = (word: string | undefined): boolean => word === '--help' || word === '-h';

/** Long lines are hard to read, however wide the terminal is. In a pipe too, since help is read by people. */
const helpWidth = ({ columns }: Io): number => Math.min(Math.max(columns() || 80, 40), 100);

/** What is asked about the command itself; undefined when it shall do something. */
function informationFor(args: readonly string[], width: number): string | undefined {
  const [first, ...others] = args;
  if (first === '--version' || first === '-v') return `${version()}\n`;
  if (first === 'help') return informationFor([...others, '--help'], width);
  if (first === undefined || isHelp(first)) return overview(COMMANDS, width);
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (!options.some(isHelp)) return undefined;
  const words = options.filter((word) => !isHelp(word));
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  const isAlone = COMMANDS.some(({ name }) => name === first);
  const isGroup = group.length > 0 && !isAlone && !group.some(({ name }) => name === words.slice(0, 2).join(' '));
  return isGroup ? groupHelp(first, group, width) : commandHelp(find(words).command, width);
}

/** By one word or two; a group alone means its list. */
function find(args: readonly string[]): Found {
  const [first = '', second] = args;
  const named = (name: string) => COMMANDS.find((command) => command.name === name);
  const two = named(`${first} ${second}`);
  if (two !== undefined) return { command: two, rest: args.slice(2) };
  const one = named(first);
  if (one !== undefined) return { command: one, rest: args.slice(1) };
  const list = named(`${first} list`);
  if (list !== undefined && (second === undefined || second.startsWith('-')))
    return { command: list, rest: args.slice(1) };
  const isGroup = COMMANDS.some(({ name }) => name.startsWith(`${first} `));
  throw unknown(isGroup && second !== undefined ? [first, second] : [first]);
}

function unknown(words: readonly string[]): WaybillError {
  const meant = closest(words.join(' '), [
    ...COMMANDS.map(({ name }) => name),
    ...COMMANDS.map(({ name }) => name.split(' ')[0]!),
  ]);
  const isGroup = COMMANDS.some(({ name }) => name.startsWith(`${words[0]} `));
  const lists = `waybill ${isGroup ? `${shownWord(words[0]!)} ` : ''}--help lists them.`;
  if (isGroup && words.length === 1)
    return new WaybillError('invalid_request', `'waybill ${words[0]}' needs a second word.`, { hint: lists });
  return new WaybillError('invalid_request', `There is no command '${words.map(shownWord).join(' ')}'.`, {
    hint: meant === undefined || meant === words[0] ? lists : `Did you mean 'waybill ${meant}'?`,
  });
}
