/** Longer messages carry a page or a payload behind the sentence that says what went wrong. */
const MAX_TEXT = 2_000;

/** Longer names and codes are none. */
const MAX_NAME = 200;

const MAX_ITEMS = 16;

/** Reads a property of anything that was thrown. A getter that throws and a revoked Proxy read as undefined. */
export function read(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

export function readPath(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce(read, value);
}

/** A short string, such as a code or the name of a class. */
export function readName(value: unknown, key: string): string | undefined {
  const name = read(value, key);
  return typeof name === 'string' && name.length > 0 && name.length <= MAX_NAME ? name : undefined;
}

export function readText(value: unknown, key: string): string {
  const text = read(value, key);
  return typeof text === 'string' ? text.slice(0, MAX_TEXT) : '';
}

/** The message of an error, or the text that was thrown in place of one. */
export const messageOf = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, MAX_TEXT) : readText(value, 'message');

/** The first items of an array, each of them once. */
export function readItems(value: unknown, key: string): unknown[] {
  const items = read(value, key);
  if (!isArray(items)) return [];
  const all = read(items, 'length');
  const length = Math.min(typeof all === 'number' ? all : 0, MAX_ITEMS);
  return [...new Set(Array.from({ length }, (_, at) => read(items, String(at))))];
}

/** `Array.isArray` throws at a revoked Proxy. */
function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** The name that an error has, and that of its class: many libraries set only one of the two. */
export function namesOf(value: unknown): string[] {
  const names = [readName(value, 'name'), readName(read(value, 'constructor'), 'name')];
  return names.filter((name) => name !== undefined);
}
