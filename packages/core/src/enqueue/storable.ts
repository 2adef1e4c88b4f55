import { MAX_JSON_DEPTH } from '../check.ts';
import { WaybillError } from '../errors.ts';

/**
 * Refuses what cannot be written as JSON, before it shares a write with the jobs of other calls. Over HTTP everything is
 * JSON by then; only an embedded caller can hand in a BigInt, or a value that refers to itself.
 */
export function checkStorable(field: string, value: unknown): void {
  if (!isSuspect(value, 1)) return;
  try {
    JSON.stringify(value);
  } catch (error) {
    throw new WaybillError('invalid_payload', `'${field}' is not JSON: ${problemOf(error)}.`, {
      details: { field },
      hint: 'Send a BigInt as text, and refer to other objects by their ids.',
      cause: error,
    });
  }
}

/** A quick look, since every job passes here: what is suspect may still have a `toJSON` that makes it plain. */
function isSuspect(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  if (depth > MAX_JSON_DEPTH) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isSuspect(value[index], depth + 1)) return true;
    return false;
  }
  for (const key in value) if (isSuspect((value as Record<string, unknown>)[key], depth + 1)) return true;
  return false;
}

function problemOf(error: unknown): string {
  if (error instanceof RangeError) return 'it is nested too deep';
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes('BigInt')) return 'it has a BigInt';
  return message.includes('circular') ? 'it refers to itself' : 'it cannot be written as text';
}
