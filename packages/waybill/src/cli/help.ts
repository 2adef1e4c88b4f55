import { ERROR_TABLE } from '@waybill/client';
import type { Command, Options } from './command.ts';
import { usageOf } from './command.ts';

const OVERVIEW = 'waybill: background jobs where the row is the truth and the queue is only a hint\n';

/** All commands, by section. */
export function overview(commands: readonly Command[]): string {
  const width = widthOf(commands);
  const sections = [...new Set(commands.map(({ section }) => section))].map((section) => {
    const own = commands.filter((one) => one.section === section);
    return `${section}\n${own.map((one) => lineOf(one, width)).join('')}`;
  });
  return [
    OVERVIEW,
    'Usage\n  waybill COMMAND [options]\n  waybill COMMAND --help\n  waybill --version\n',
    ...sections,
    `Environment\n${[
      ['WAYBILL_STORE', 'where jobs are kept, when no --store says so'],
      ['WAYBILL_TENANT', 'whose jobs and queues, when no --tenant says so'],
      ['NO_COLOR', 'no colours, also at a terminal'],
    ]
      .map(([name, about]) => `  ${name!.padEnd(width)}  ${about}\n`)
      .join('')}`,
    exitCodes(),
  ].join('\n');
}

/** The commands that begin with a word. */
export function groupHelp(word: string, commands: readonly Command[]): string {
  const lines = commands.map((one) => lineOf(one, widthOf(commands))).join('');
  return `Usage\n  waybill ${word} COMMAND [options]\n\nCommands\n${lines}`;
}

export function commandHelp(command: Command): string {
  return [
    `Usage\n  ${usageOf(command)}\n`,
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.\n`,
    ...(command.notes === '' ? [] : [`${command.notes}\n`]),
    `Options\n${optionLines(command.options)}`,
    command.isServer
      ? 'Exit codes\n  0 stopped as asked   1 failed   2 wrong usage   130 stopped by a second Ctrl-C\n'
      : exitCodes(),
  ].join('\n');
}

const left = ({ name, args }: Command): string => (args === '' ? `waybill ${name}` : `waybill ${name} ${args}`);

const widthOf = (commands: readonly Command[]): number => Math.max(...commands.map((one) => left(one).length));

const lineOf = (one: Command, width: number): string => `  ${left(one).padEnd(width)}  ${one.summary}\n`;

function optionLines(options: Options): string {
  const rows = Object.entries(options).map(([name, { value, about, default: fallback }]) => ({
    flag: value === undefined ? `--${name}` : `--${name} ${value}`,
    text: fallback === undefined ? about : `${about} [${fallback}]`,
  }));
  rows.push({ flag: '--help', text: 'show this' });
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  return rows.map(({ flag, text }) => `  ${flag.padEnd(width)}  ${text}\n`).join('');
}

const PER_LINE = 4;

function exitCodes(): string {
  const refusals = Object.entries(ERROR_TABLE).map(([code, { exitCode }]) => [exitCode, code] as const);
  const named: (readonly [number, string])[] = [
    [0, 'done'],
    [1, 'failed'],
    ...refusals.filter(([exit]) => exit > 1),
    [130, 'interrupted'],
  ];
  const cells = named.map(([exit, code]) => `${String(exit).padStart(3)} ${code}`);
  const width = Math.max(...cells.map(({ length }) => length));
  const lines = cells.flatMap((_, index) =>
    index % PER_LINE === 0
      ? [
          cells
            .slice(index, index + PER_LINE)
            .map((cell) => cell.padEnd(width))
            .join('  '),
        ]
      : [],
  );
  return `Exit codes\n${lines.map((line) => `  ${line.trimEnd()}\n`).join('')}`;
}
