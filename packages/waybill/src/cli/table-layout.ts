import { oneLine, widthOf } from './text-width.ts';

export interface Column<T> {
  title: string;
  /** For the heading where the whole one does not fit. */
  short?: string;
  of(item: T): string;
  /** Numbers. @defaultValue 'left' */
  align?: 'left' | 'right';
  /** Of the padded text, so that escape sequences do not count as width. */
  paint?(text: string): string;
  /** Its texts may be cut down to this width. @defaultValue never */
  least?: number;
  /** Left out where the others do not fit; the highest number goes first. @defaultValue never */
  spare?: number;
}

export interface Layout<T> {
  columns: readonly Column<T>[];
  titles: string[];
  cells: string[][];
  widths: number[];
}

/**
 * What of a table fits: first headings get shorter, then long texts, then spare columns are left out. Where even that is
 * too wide, the lines are for the caller to cut.
 */
export function laidOut<T>(items: readonly T[], all: readonly Column<T>[], width: number, gap: number): Layout<T> {
  const texts = new Map(all.map((column) => [column, items.map((item) => oneLine(column.of(item)))]));
  let columns = [...all];
  for (;;) {
    const room = width - gap * (columns.length - 1);
    const found = fitted(columns, texts, room);
    const spare = columns.reduce((most, { spare = 0 }) => Math.max(most, spare), 0);
    if (found.fits || spare === 0) {
      const cells = items.map((_, row) => columns.map((column) => texts.get(column)![row]!));
      return { columns, titles: found.titles, cells, widths: found.widths };
    }
    columns = columns.filter((column) => column.spare !== spare);
  }
}

function fitted<T>(columns: readonly Column<T>[], texts: ReadonlyMap<Column<T>, string[]>, room: number) {
  const widest = columns.map((column) => texts.get(column)!.reduce((most, text) => Math.max(most, widthOf(text)), 0));
  const inWhole = columns.map(({ title }) => title);
  const whole = widest.map((cell, index) => Math.max(cell, inWhole[index]!.length));
  if (sum(whole) <= room) return { fits: true, titles: inWhole, widths: whole };
  const titles = columns.map(({ title, short = title }) => short);
  const widths = widest.map((cell, index) => Math.max(cell, titles[index]!.length));
  const least = columns.map((column, index) => Math.min(widths[index]!, column.least ?? Number.POSITIVE_INFINITY));
  shrink(widths, least, room);
  return { fits: sum(widths) <= room, titles, widths };
}

/** Takes from the widest column that still may lose something, one by one, so that short texts stay whole. */
function shrink(widths: number[], least: readonly number[], room: number): void {
  for (let over = sum(widths) - room; over > 0; over -= 1) {
    const able = widths.map((width, index) => (width > least[index]! ? width : 0));
    const most = Math.max(...able);
    if (most === 0) return;
    widths[able.indexOf(most)]! -= 1;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
