import { ERROR_TABLE } from '@waybill/client';
import type { Command, Options } from './command.ts';
import { usageOf } from './command.ts';
import { wrapped } from './text-width.ts';

const OVERVIEW = 'waybill: background jobs where the row is the truth and the queue is only a hint\n';

/** All commands, by section. */
export function overview(commands: readonly Command[], width: number): string {
  const sections = [...new Set(commands.map(({ section }) => section))].map((section) => {
    const own = commands.filter((one) => one.section === section);
    return `${section}\n${twoColumns(own.map(rowOf), width, LEFT_OF_OVERVIEW)}`;
  });
  const environment: Row[] = [
    ['WAYBILL_STORE', 'where jobs are kept, when no --store says so'],
    ['WAYBILL_TENANT', 'whose jobs and queues, when no --tenant says so'],
    ['WAYBILL_KEY', 'API key for a server that asks for one'],
    ['WAYBILL_CONFIG', 'the configuration file of serve, dev and work'],
    ['NO_COLOR', 'no colours, also at a terminal'],
  ];
  return [
    paragraphs(OVERVIEW, width),
    'Usage\n  waybill COMMAND [options]\n  waybill COMMAND --help\n  waybill --version\n',
    ...sections,
    `Environment\n${twoColumns(environment, width, LEFT_OF_OVERVIEW)}`,
    exitCodes(width),
  ].join('\n');
}

/** The commands that begin with a word. */
export function groupHelp(word: string, commands: readonly Command[], width: number): string {
  return `Usage\n  waybill ${word} COMMAND [options]\n\nCommands\n${twoColumns(commands.map(rowOf), width)}`;
}

export function commandHelp(command: Command, width: number): string {
  return [
    `Usage\n  ${usageOf(command)}\n`,
    paragraphs(`${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`, width),
    ...(command.notes === '' ? [] : [paragraphs(command.notes, width)]),
    `Options\n${twoColumns(optionRows(command.options), width)}`,
    command.isServer
      ? inColumns('Exit codes', ['0 stopped as asked', '1 failed', '2 wrong usage', '130 second Ctrl-C'], width)
      : exitCodes(width),
  ].join('\n');
}

type Row = readonly [left: string, right: string];

const rowOf = ({ name, args, summary }: Command): Row => [
  args === '' ? `waybill ${name}` : `waybill ${name} ${args}`,
  summary,
];

const optionRows = (options: Options): Row[] => [
  ...Object.entries(options).map(([name, { value, about, default: fallback }]): Row => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return [flag, fallback === undefined ? about : `${about} [${fallback}]`];
  }),
  ['--help', 'show this'],
];

/** What all sections of the overview share, so that their columns stand below each other. */
const LEFT_OF_OVERVIEW = 29;
const MOST_LEFT = 32;

/** Where the left text is too long for its column, the right one begins in the next line. */
function twoColumns(rows: readonly Row[], width: number, fixed?: number): string {
  const lengths = rows.map(([left]) => left.length).filter((length) => length <= MOST_LEFT);
  const column = fixed ?? Math.max(0, ...lengths);
  const indent = ' '.repeat(column + 4);
  return rows
    .map(([left, right]) => {
      const [first, ...rest] = wrapped(right, width - indent.length);
      const begin = left.length > column ? `  ${left}\n${indent}${first}` : `  ${left.padEnd(column)}  ${first}`;
      return `${[begin, ...rest.map((line) => indent + line)].join('\n')}\n`;
    })
    .join('');
}

/** Paragraphs are separated by an empty line, and broken anew. A line that is moved in is an example, and stays. */
function paragraphs(text: string, width: number): string {
  return text
    .trimEnd()
    .split('\n\n')
    .map((part) => {
      if (part.startsWith('  ')) return `${part}\n`;
      return `${wrapped(part.replaceAll('\n', ' '), width).join('\n')}\n`;
    })
    .join('\n');
}

function exitCodes(width: number): string {
  const refusals = Object.entries(ERROR_TABLE).map(([code, { exitCode }]) => [exitCode, code] as const);
  const named: (readonly [number, string])[] = [
    [0, 'done'],
    [1, 'failed'],
    ...refusals.filter(([exit]) => exit > 1),
    [130, 'interrupted'],
  ];
  const cells = named.map(([exit, code]) => `${String(exit).padStart(3)} ${code}`);
  return inColumns('Exit codes', cells, width);
}

/** As many in a line as fit. */
function inColumns(heading: string, cells: readonly string[], width: number): string {
  const widest = Math.max(...cells.map(({ length }) => length));
  const perLine = Math.max(1, Math.floor(width / (widest + 2)));
  const lines: string[] = [];
  for (let from = 0; from < cells.length; from += perLine) {
    const line = cells.slice(from, from + perLine).map((cell) => cell.padEnd(widest));
    lines.push(`  ${line.join('  ').trimEnd()}\n`);
  }
  return `${heading}\n${lines.join('')}`;
}
