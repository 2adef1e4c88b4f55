// How wide a text is at a terminal, and how to make it fit. Escape sequences of colours take no room, and stay.

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const COLOUR = /(\u001b\[[0-9;]*m)/g;
const PLAIN = /^[\u0020-\u007e]*$/;
const MARKS_ONLY = /^[\p{M}\p{Cf}]+$/u;
/** Letters of East Asia and pictures take two cells. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})/u;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Texts of producers and workers may carry anything, also what would take over the terminal. */
export const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

export function widthOf(text: string): number {
  const bare = text.replaceAll(COLOUR, '');
  if (PLAIN.test(bare)) return bare.length;
  return Array.from(graphemes.segment(bare), ({ segment }) => cellsOf(segment)).reduce((sum, cells) => sum + cells, 0);
}

function cellsOf(grapheme: string): number {
  if (MARKS_ONLY.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Where the text must be cut so that what is before it has at most this width; at least one character. */
function cutAt(text: string, width: number): number {
  let [room, end] = [width, 0];
  for (const part of text.split(COLOUR)) {
    if (!part.startsWith('\u001b')) {
      for (const { segment } of graphemes.segment(part)) {
        room -= cellsOf(segment);
        if (room < 0 && end > 0) return end;
        end += segment.length;
      }
    } else end += part.length;
  }
  return end;
}

/** Ends in an ellipsis where something was cut off. Colours that were begun also end. */
export function clipped(text: string, most: number): string {
  if (widthOf(text) <= most) return text;
  const end = most <= 1 ? 0 : cutAt(text, most - 1);
  return `${text.slice(0, end)}…${text.slice(end).match(COLOUR)?.join('') ?? ''}`;
}

export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Lines of at most this width, broken between words; a word that is too long is broken too, so that nothing is lost. */
export function wrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line: string | null = null;
  for (const word of text.split(' ')) {
    const joined: string = line === null ? word : `${line} ${word}`;
    if (widthOf(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== null) lines.push(line);
    let rest = word;
    while (widthOf(rest) > width) {
      const end = cutAt(rest, width);
      lines.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
    line = rest;
  }
  return [...lines, line ?? ''];
}

/** Like `wrapped`, with each further line moved in; text that is already short enough stays as it is. */
export function hanging(text: string, width: number, indent: string): string {
  if (widthOf(text) <= width) return text;
  const [first = '', ...rest] = wrapped(text, width - indent.length);
  return [first, ...rest.map((line) => indent + line)].join('\n');
}

/** Every line of a text, those that are too wide with a hanging rest. */
export function linesWithin(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  return text
    .split('\n')
    .map((line) => hanging(line, width, '  '))
    .join('\n');
}
