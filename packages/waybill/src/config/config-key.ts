import type { Kind } from './kinds.ts';

/** One key of the configuration file. A part `*` stands for the name of a queue. */
export interface ConfigKey {
  path: string;
  kind: Kind;
  about: string;
  /** The variable that beats the file; the file becomes its fallback. */
  env?: string;
  /** The flag that beats both. Where there is no variable, the file becomes the flag's fallback. */
  flag?: string;
  /** Where the value goes when neither a variable nor a flag takes it: a path in `ConfigOptions`. */
  option?: string;
  /** What a user reads as the default. @defaultValue none */
  default?: string;
  /** Never shown. */
  secret?: true;
  /** The name of a file that holds a secret: shown only as far as it is one. */
  namesSecretFile?: true;
  /** Flags and variables that say something else about the same matter: where one is given, the file is not heard. */
  yieldsTo?: { flags?: readonly string[]; env?: readonly string[] };
  /** The key whose address this is a part of. */
  partOf?: string;
  /** For the block of other programs that is understood too: the keys that it stands for. Empty: no effect. */
  standsFor?: readonly string[];
}
