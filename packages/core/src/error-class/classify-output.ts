import { stripVTControlCharacters } from 'node:util';
import { classifyError } from './classify-error.ts';
import { type ClassifiedError, classified, type ErrorClass } from './error-class.ts';
import { classOfNodeCode } from './node-codes.ts';
import { readPrinted } from './printed-error.ts';
import { classOfStatus } from './status.ts';
import { classOfText } from './text.ts';

/** A program that failed says why at the end, and may have printed gigabytes before. */
const MAX_TAIL = 65_536;
const MAX_LINES = 500;
const MAX_LINE = 2_000;

/** Further up, a line is about something that the program went on after. */
const MAX_LOOKED_AT = 20;

/**
 * Classifies a program that failed by what it left on stderr. The last line that says something decides: an error as
 * Node.js or Python prints one, with its code, status and cause, or a sentence of a command such as `curl` or `sh`.
 */
export function classifyOutput(stderr: string, now: number = Date.now()): ClassifiedError {
  const lines = linesOf(stderr);
  let lookedAt = 0;
  for (let at = lines.length - 1; at >= 0 && lookedAt < MAX_LOOKED_AT; at -= 1) {
    const line = lines[at]!;
    // Stacks and properties belong to the line above them.
    if (!/^[^\s}\]]/.test(line)) continue;
    lookedAt += 1;
    const error = readPrinted(line, lines.slice(at + 1));
    if (error !== undefined) return classifyError(error, now);
    const found = classOfLine(line);
    if (found !== undefined) return found;
  }
  return classified({ class: 'unknown', by: 'none' }, undefined);
}

function linesOf(stderr: unknown): string[] {
  if (typeof stderr !== 'string') return [];
  const tail = stripVTControlCharacters(stderr.slice(-MAX_TAIL));
  const lines = tail.split(/\r?\n/).slice(-MAX_LINES);
  return lines.map((line) => line.slice(0, MAX_LINE).trimEnd());
}

/** npm prints the code of its failure on a line of its own, and a status as E404. */
const NPM_CODE = /^npm (?:error|ERR!) code (?:E(\d{3})|([A-Z][A-Z_]{2,40}))$/;

function classOfLine(line: string): ClassifiedError | undefined {
  const [, status, code] = NPM_CODE.exec(line) ?? [];
  const byStatus = status === undefined ? undefined : classOfStatus(Number(status));
  if (byStatus !== undefined) return decided(byStatus, 'status');
  const byCode = code === undefined ? undefined : classOfNodeCode(code);
  if (byCode !== undefined) return decided(byCode, 'code');
  const byText = classOfText(line);
  return byText === undefined ? undefined : decided(byText, 'text');
}

const decided = (found: ErrorClass, by: ClassifiedError['by']): ClassifiedError =>
  classified({ class: found, by }, undefined);
