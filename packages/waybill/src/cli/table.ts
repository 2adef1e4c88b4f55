import type { Style } from './style.ts';
import { type Column, laidOut } from './table-layout.ts';
import { clipped, oneLine, padded, widthOf, wrapped } from './text-width.ts';

export type { Column } from './table-layout.ts';

/** What a text must fit: `width` is endless where nobody looks at it, in pipes and files. */
export interface Screen {
  style: Style;
  width: number;
}

const GAP = '  ';

/** Aligned columns with a heading. No line ends in blanks, and none is wider than the screen. */
export function table<T>(items: readonly T[], all: readonly Column<T>[], { style, width }: Screen): string {
  const { columns, cells, widths, titles } = laidOut(items, all, width, GAP.length);
  const lineOf = (row: readonly string[], paint: (text: string, column: Column<T>) => string): string => {
    const texts = row.map((text, index) => {
      const column = columns[index]!;
      const shown = clipped(text, widths[index]!);
      if (column.align === 'right') return paint(' '.repeat(widths[index]! - widthOf(shown)) + shown, column);
      return paint(index === columns.length - 1 ? shown : padded(shown, widths[index]!), column);
    });
    return clipped(texts.join(GAP), width).trimEnd();
  };
  const heading = lineOf(titles, (text) => style.dim(text));
  const lines = cells.map((row) => lineOf(row, (text, { paint }) => paint?.(text) ?? text));
  return `${[heading, ...lines].join('\n')}\n`;
}

/** The colour of a value is put on after its control characters are taken out, or it would lose its escape bytes. */
export type Pair = readonly [name: string, value: string | undefined, paint?: (text: string) => string];

/** Names and values, one pair a line; pairs without a value are left out. What is too wide goes on below itself. */
export function pairs(entries: readonly Pair[], { style, width }: Screen): string {
  const shown = entries.filter(([, value]) => value !== undefined);
  const left = Math.max(...shown.map(([name]) => name.length));
  const indent = ' '.repeat(left) + GAP;
  return shown
    .map(([name, value = '', paint = (text) => text]) => {
      const lines = wrapped(oneLine(value), width - indent.length).map(paint);
      return `${style.dim(name.padEnd(left))}${GAP}${lines.join(`\n${indent}`)}\n`;
    })
    .join('');
}
