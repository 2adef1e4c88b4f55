// `scripts/embed.mjs` replaces what the compiler makes of this file: in a build it is `child/main.js` with all that it imports.
export const CHILD: string | null = null;
