import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const docs = path.resolve(import.meta.dirname, '../../../../docs');

/** A block of code in a page of docs/. */
export interface DocExample {
  /** Page and number. */
  name: string;
  kind: string;
  code: string;
  /** What its first line calls it, as a comment; undefined: it is a program of its own. */
  fileName: string | undefined;
}

export const docExamples = (): DocExample[] =>
  readdirSync(docs)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const blocks = [...readFileSync(path.join(docs, file), 'utf8').matchAll(/```(js|cjs|ts)\n([\s\S]*?)```/g)];
      return blocks.map(([, kind, code], index) => ({
        ...{ name: `${file} ${index + 1}`, kind: kind!, code: code! },
        fileName: /^\/\/ ([\w-]+\.m?js)\n/.exec(code!)?.[1],
      }));
    });

export const needsAgentSdk = ({ code }: DocExample): boolean => code.includes("'@waybill/agent");

/** How Node tells the kinds of code apart; it runs TypeScript by leaving the types out. */
const ENDINGS: Record<string, string> = { js: 'mjs', cjs: 'cjs', ts: 'mts' };

/** Writes it into a folder, and answers the file. */
export function writeExample(folder: string, { name, kind, code }: DocExample): string {
  const file = path.join(folder, `${name.replaceAll(/\W+/g, '-')}.${ENDINGS[kind]}`);
  writeFileSync(file, code);
  return file;
}
