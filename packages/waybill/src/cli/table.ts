import type { Style } from './style.ts';

export interface Column<T> {
  title: string;
  of(item: T): string;
  /** Numbers. @defaultValue 'left' */
  align?: 'left' | 'right';
  /** Of the padded text, so that escape sequences do not count as width. */
  paint?(text: string): string;
}

/** Texts of producers and workers may carry anything, also what would take over the terminal. */
export const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

export const clipped = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

/** Aligned columns with a heading. No line ends in blanks. */
export function table<T>(items: readonly T[], columns: readonly Column<T>[], style: Style): string {
  const cells = items.map((item) => columns.map(({ of }) => oneLine(of(item))));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const lineOf = (row: readonly string[], paint: (text: string, column: Column<T>) => string): string =>
    row
      .map((text, index) => {
        const column = columns[index]!;
        const isLast = index === columns.length - 1;
        if (column.align === 'right') return paint(text.padStart(widths[index]!), column);
        return paint(isLast ? text : text.padEnd(widths[index]!), column);
      })
      .join('  ')
      .trimEnd();
  const heading = lineOf(
    columns.map(({ title }) => title),
    (text) => style.dim(text),
  );
  const lines = cells.map((row) => lineOf(row, (text, { paint }) => paint?.(text) ?? text));
  return `${[heading, ...lines].join('\n')}\n`;
}

/** The colour of a value is put on after its control characters are taken out, or it would lose its escape bytes. */
export type Pair = readonly [name: string, value: string | undefined, paint?: (text: string) => string];

/** Names and values, one pair a line; pairs without a value are left out. */
export function pairs(entries: readonly Pair[], style: Style): string {
  const shown = entries.filter(([, value]) => value !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown
    .map(([name, value = '', paint = (text) => text]) => `${style.dim(name.padEnd(width))}  ${paint(oneLine(value))}\n`)
    .join('');
}
