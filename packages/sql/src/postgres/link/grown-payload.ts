/** PostgreSQL refuses more than 8,000 bytes. Who hears of so many jobs may as well look at all. */
const MOST_BYTES = 4_000;

/** What a notification tells of journals that have grown: the store that tells it, then the ids of the jobs; no ids: any. */
export function grownPayload(from: string, ids: readonly string[]): string {
  const text = JSON.stringify([from, ...ids]);
  return Buffer.byteLength(text) > MOST_BYTES ? JSON.stringify([from]) : text;
}

/** The ids that another store tells of, none where `own` tells itself; null: journals of any job may have grown. */
export function grownIds(payload: string | undefined, own: string): string[] | null {
  const names = namesOf(payload);
  if (names === null) return null;
  const [from, ...ids] = names;
  if (from === own) return [];
  return ids.length === 0 ? null : ids;
}

/** The strings of a JSON list of strings; null where it is anything else. */
export function namesOf(payload: string | undefined): string[] | null {
  try {
    const names: unknown = JSON.parse(payload ?? '');
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null;
  } catch {
    return null;
  }
}
