/** RFC 3339 in UTC with milliseconds, the one form in which times travel. */
export const toRfc3339 = (ms: number): string => new Date(ms).toISOString();
