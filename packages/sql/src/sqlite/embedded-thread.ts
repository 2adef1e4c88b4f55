// `scripts/embed.mjs` replaces what the compiler makes of this file: in a build it is `thread.js` with all that it imports.
export const THREAD: string | null = null;
