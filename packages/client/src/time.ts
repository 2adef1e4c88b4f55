/** RFC 3339 in UTC with milliseconds, the one form in which times travel. */
export const toRfc3339 = (ms: number): string => new Date(ms).toISOString();

/** The moment that such a text names; null where there is none. */
export const fromRfc3339 = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));
