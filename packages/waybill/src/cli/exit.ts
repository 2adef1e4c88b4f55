/** What shells expect of whatever was ended by Ctrl-C. */
export const INTERRUPTED = 130;
