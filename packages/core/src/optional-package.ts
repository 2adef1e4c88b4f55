import { WaybillError } from './errors.ts';

export interface OptionalPackage {
  name: string;
  /** The begin of the sentence: `The PostgreSQL store needs`. */
  needs: string;
  /** @defaultValue npm install NAME */
  hint?: string;
}

/** Whether an import failed because this very package is not installed, and not one that it needs itself. */
export function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  return isNotFound && (message.includes(`'${name}'`) || message.includes(`'${name}/`));
}

/** A bundle of ES modules has no `require`, and packages of CommonJS inside of it ask for one. */
const WITHOUT_REQUIRE = /^Dynamic require of /;

/** Loads a package that is there only where its user installed it. Only its absence is reported as such. */
export async function loadOptional<T>(wanted: OptionalPackage, load: () => Promise<T>): Promise<T> {
  const { name, needs, hint = `npm install ${name}` } = wanted;
  try {
    return await load();
  } catch (cause) {
    if (isMissing(cause, name)) {
      throw new WaybillError('unsupported', `${needs} the package '${name}', which is not installed.`, { hint, cause });
    }
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new WaybillError('unsupported', `${needs} the package '${name}', which could not be loaded: ${message}`, {
      cause,
      ...(WITHOUT_REQUIRE.test(message) && {
        hint: 'Bundle as CommonJS, or define require in a banner by createRequire of node:module.',
      }),
    });
  }
}
