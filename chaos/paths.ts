import { fileURLToPath } from 'node:url';

const isBuilt = import.meta.url.endsWith('.js');
const ROOT = new URL(isBuilt ? '../../' : '../', import.meta.url);

/** A file of the project. */
export const fileAt = (path: string): string => fileURLToPath(new URL(path, ROOT));

/** A script of this folder, as source or built, like this file itself. */
export const scriptAt = (name: string): string =>
  fileURLToPath(new URL(`./${name}${isBuilt ? '.js' : '.ts'}`, import.meta.url));
