import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const docs = path.resolve(import.meta.dirname, '../../../../docs');

/** A block of code in a page of docs/. */
export interface DocExample {
  page: string;
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
        ...{ page: file, name: `${file} ${index + 1}`, kind: kind!, code: code! },
        fileName: /^\/\/ ([\w-]+\.m?js)\n/.exec(code!)?.[1],
      }));
    });

export const needsAgentSdk = ({ code }: DocExample): boolean => code.includes("'@waybill/agent");

/** An example under a name of its own runs where another one imports it, and is else a program that does not end. */
export const isImported = ({ fileName }: DocExample, all = docExamples()): boolean =>
  fileName !== undefined && all.some(({ code }) => code.includes(`import('./${fileName}')`));

/** The programs that run with nothing but the repository; packages/agent/real runs those that need the Claude Agent SDK. */
export function runnableExamples(): DocExample[] {
  const all = docExamples();
  return all.filter((example) => !isImported(example, all) && !needsAgentSdk(example));
}

/** One program of each page. */
export const firstOfPages = (): DocExample[] => [
  ...new Map(
    runnableExamples()
      .toReversed()
      .map((example) => [example.page, example]),
  ).values(),
];

/** How Node tells the kinds of code apart; it runs TypeScript by leaving the types out. */
const ENDINGS: Record<string, string> = { js: 'mjs', cjs: 'cjs', ts: 'mts' };

/** Writes it into a folder, and answers the file. */
export function writeExample(folder: string, { name, kind, code }: DocExample): string {
  const file = path.join(folder, `${name.replaceAll(/\W+/g, '-')}.${ENDINGS[kind]}`);
  writeFileSync(file, code);
  return file;
}
