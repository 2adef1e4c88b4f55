const MIB = 1024 * 1024;

/** For messages: '12.5 MiB', or bytes where that would round too much. */
export const asBytes = (bytes: number): string =>
  bytes < MIB / 10 ? `${bytes} bytes` : `${Number((bytes / MIB).toFixed(1))} MiB`;

export const asSeconds = (milliseconds: number): string => `${Number((milliseconds / 1000).toFixed(2))} s`;

/** A longer timer would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
