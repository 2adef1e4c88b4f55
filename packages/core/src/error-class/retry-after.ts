import { read, readPath } from './safe-read.ts';

const DAY_MS = 86_400_000;

/** The form of a date in HTTP. `Date.parse` alone would take "tomorrow 5" and the like. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long the answer behind an error asks to wait. What is neither a number nor a date is ignored. */
export function retryAfterOf(error: unknown, now: number): number | undefined {
  for (const headers of [
    read(error, 'headers'),
    readPath(error, 'response', 'headers'),
    readPath(error, '$response', 'headers'),
  ]) {
    const precise = numberIn(headerOf(headers, 'retry-after-ms'));
    if (precise !== undefined) return bounded(precise);
    const found = millisecondsIn(headerOf(headers, 'retry-after'), now);
    if (found !== undefined) return bounded(found);
  }
  const told = readPath(error, 'details', 'retry_after_ms');
  return typeof told === 'number' && told >= 0 ? bounded(told) : undefined;
}

function millisecondsIn(text: string, now: number): number | undefined {
  const seconds = numberIn(text);
  if (seconds !== undefined) return seconds * 1_000;
  if (!HTTP_DATE.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

const numberIn = (text: string): number | undefined =>
  /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;

const bounded = (ms: number): number => Math.min(Math.ceil(ms), DAY_MS);

/** Of a `Headers` object, or of a plain one, in which names have any case and a value may be a list. */
function headerOf(headers: unknown, name: string): string {
  const value = fromHeaders(headers, name) ?? fromObject(headers, name);
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' ? text.slice(0, 100).trim() : '';
}

function fromHeaders(headers: unknown, name: string): unknown {
  if (typeof read(headers, 'get') !== 'function') return undefined;
  try {
    return (headers as Headers).get(name) ?? undefined;
  } catch {
    return undefined;
  }
}

function fromObject(headers: unknown, name: string): unknown {
  const value = read(headers, name) ?? read(headers, titleCase(name));
  return readPath(value, '0') ?? value;
}

const titleCase = (name: string): string => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
