const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Milliseconds of an RFC 3339 time; undefined where the text is none. */
export function parseMoment(text: string): number | undefined {
  const [, year, month, day, hour] = RFC_3339.exec(text) ?? [];
  // Date.parse takes 24:00, and days up to the 31st in every month, and goes on with the day after.
  if (year === undefined || hour === '24' || !isDay(Number(year), Number(month), Number(day))) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

export const isDay = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
