import { isObject } from '@waybill/core';
import { pathOf } from './paths.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Stands where a reference could not be replaced, so that its key is not complained about twice. */
export const UNRESOLVED = Symbol('unresolved');

export interface Resolved {
  /** A copy with all references replaced. */
  document: unknown;
  problems: string[];
  /** Which variables each key has its value from, by path: a message names them in place of the value. */
  variables: Map<string, string[]>;
}

/** `$${` is a literal `${`. What stands between the braces ends at the first one. */
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const NAMED = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** Replaces `${NAME}` and `${NAME:-default}` inside of all texts. */
export function resolveReferences(document: unknown, env: Env, file: string): Resolved {
  const problems: string[] = [];
  const variables = new Map<string, string[]>();
  const visit = (value: unknown, parts: readonly string[], around: readonly unknown[]): unknown => {
    // An object of a module may contain itself, and an alias in YAML the object that it stands in.
    if (around.includes(value)) {
      problems.push(`'${pathOf(parts)}' in ${file} contains itself.`);
      return UNRESOLVED;
    }
    if (Array.isArray(value)) {
      const items = value.map((item, index) => visit(item, [...parts, String(index)], [...around, value]));
      return items.includes(UNRESOLVED) ? UNRESOLVED : items;
    }
    if (isObject(value)) {
      const inside = [...around, value];
      const entries = Object.entries(value).map(([key, item]) => [key, visit(item, [...parts, key], inside)] as const);
      return Object.fromEntries(entries);
    }
    return typeof value === 'string' && value.includes('${') ? replaced(value, parts) : value;
  };
  const replaced = (text: string, parts: readonly string[]): string | typeof UNRESOLVED => {
    const path = pathOf(parts);
    const used: string[] = [];
    let isWhole = true;
    const result = text.replaceAll(REFERENCE, (found, inside: string | undefined, end: string | undefined) => {
      if (found === '$${') return '${';
      const [, name, fallback] = NAMED.exec(inside ?? '') ?? [];
      if (name === undefined || end === '') {
        isWhole = false;
        const how = `Write it like \${NAME} or \${NAME:-default}, and a literal \${ as $\${.`;
        problems.push(`'${path}' in ${file} has an invalid reference. ${how}`);
        return '';
      }
      used.push(name);
      const value = env[name];
      if (fallback !== undefined) return value || fallback;
      if (value !== undefined) return value;
      isWhole = false;
      const how = `Set it, or give a default like \${${name}:-..}.`;
      problems.push(`'${path}' in ${file} needs the variable ${name}, which is not set. ${how}`);
      return '';
    });
    if (used.length > 0) variables.set(path, used);
    return isWhole ? result : UNRESOLVED;
  };
  return { document: visit(document, [], []), problems, variables };
}
