import type { RunFiles } from '../run-files.ts';
import type { SessionEntry, SessionKey, SessionStore } from '../sdk/sdk-types.ts';
import { KeptCalls } from './kept-calls.ts';

/** Bytes of one file of a transcript. A file is written anew with each entry, so it must stay small. */
const SEGMENT_BYTES = 64 * 1_024;

interface Transcript {
  /** Number of the file that is written now, from 1. */
  segment: number;
  /** What it holds. */
  text: string;
  /** One at a time, in order. */
  writing: Promise<void>;
}

const MAIN = 'main';

/**
 * Keeps the transcripts of sessions in the files of a job: `sessions/{id}/{main or subpath}/{number}.jsonl`. An append is
 * durable when it answers. The key's project is not looked at, because it follows the folder that the CLI runs in.
 */
export class FileSessionStore implements SessionStore {
  readonly calls = new KeptCalls();
  readonly #files: RunFiles;
  readonly #onFailure: (error: unknown) => void;
  readonly #clean: (entry: SessionEntry) => SessionEntry;
  readonly #transcripts = new Map<string, Promise<Transcript>>();
  readonly #subpaths = new Map<string, Promise<Set<string>>>();

  /** The CLI goes on when an append fails: `onFailure` must end the run. `clean`: what is kept of an entry. */
  constructor(
    files: RunFiles,
    onFailure: (error: unknown) => void,
    clean: (entry: SessionEntry) => SessionEntry = (entry) => entry,
  ) {
    this.#files = files;
    this.#onFailure = onFailure;
    this.#clean = clean;
  }

  append = async (key: SessionKey, entries: SessionEntry[]): Promise<void> => {
    try {
      if (key.subpath !== undefined) await this.#note(key.sessionId, key.subpath);
      const transcript = await this.#transcript(folderOf(key));
      const text = entries.map((entry) => `${JSON.stringify(this.#clean(entry))}\n`).join('');
      transcript.writing = transcript.writing.then(() => this.#write(folderOf(key), transcript, text));
      await transcript.writing;
      this.calls.add(entries);
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  };

  load = async (key: SessionKey): Promise<SessionEntry[] | null> => {
    const { entries } = await this.#read(folderOf(key));
    return entries.length === 0 ? null : entries;
  };

  listSubkeys = async ({ sessionId }: { sessionId: string }): Promise<string[]> => [...(await this.#known(sessionId))];

  async #write(folder: string, transcript: Transcript, text: string): Promise<void> {
    if (transcript.text.length > 0 && transcript.text.length + text.length > SEGMENT_BYTES) {
      transcript.segment += 1;
      transcript.text = '';
    }
    transcript.text += text;
    await this.#files.put(segmentName(folder, transcript.segment), Buffer.from(transcript.text));
  }

  /** A run that goes on with a session begins a new file: what an earlier run has written stays as it is. */
  #transcript(folder: string): Promise<Transcript> {
    let transcript = this.#transcripts.get(folder);
    if (transcript === undefined) {
      transcript = this.#read(folder).then(({ segments }) => ({
        segment: segments + 1,
        text: '',
        writing: Promise.resolve(),
      }));
      this.#transcripts.set(folder, transcript);
    }
    return transcript;
  }

  async #read(folder: string): Promise<{ segments: number; entries: SessionEntry[] }> {
    const seen = new Set<string>();
    const entries: SessionEntry[] = [];
    for (let segment = 1; ; segment += 1) {
      const data = await this.#files.get(segmentName(folder, segment));
      if (data === null) return { segments: segment - 1, entries };
      for (const entry of linesOf(data)) {
        // An append that was tried twice is there twice.
        if (entry.uuid !== undefined && seen.has(entry.uuid)) continue;
        if (entry.uuid !== undefined) seen.add(entry.uuid);
        entries.push(entry);
      }
    }
  }

  async #known(sessionId: string): Promise<Set<string>> {
    let known = this.#subpaths.get(sessionId);
    if (known === undefined) {
      known = this.#files
        .get(indexName(sessionId))
        .then((data) => new Set<string>(data === null ? [] : JSON.parse(textOf(data))));
      this.#subpaths.set(sessionId, known);
    }
    return known;
  }

  async #note(sessionId: string, subpath: string): Promise<void> {
    const known = await this.#known(sessionId);
    if (known.has(subpath)) return;
    known.add(subpath);
    await this.#files.put(indexName(sessionId), Buffer.from(JSON.stringify([...known])));
  }
}

const textOf = (data: Uint8Array): string => Buffer.from(data).toString('utf8');

/** Names of files have letters, digits and `_.-`, and begin with none of the two last. */
const folderOf = ({ sessionId, subpath = MAIN }: SessionKey): string =>
  `sessions/${sessionId}/${subpath.replace(/[^\w/-]+/g, '_')}`;
const segmentName = (folder: string, segment: number): string => `${folder}/${String(segment).padStart(5, '0')}.jsonl`;
const indexName = (sessionId: string): string => `sessions/${sessionId}/subpaths.json`;

/** A line that was cut off is lost, and nothing else. */
function linesOf(data: Uint8Array): SessionEntry[] {
  return textOf(data)
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as SessionEntry];
      } catch {
        return [];
      }
    });
}
