import type { ErrorClass } from './error-class.ts';

/**
 * What messages say in words, in order. Classes that are retried come first, because a wrong one costs an attempt. A
 * phrase of a class that is not retried must begin a sentence, which a ": " may stand before: in the middle of one it may
 * be about anything, such as the data that a program reads.
 */
const PHRASES: readonly (readonly [phrase: RegExp, ErrorClass])[] = [
  [/\brate[- ]limit(?:ed|ing| exceeded| reached)\b|\bexceed\w* .{0,40}\brate limit\b/i, 'rate_limit'],
  [/\btoo many requests\b|\brequests? (?:was |were )?throttled\b/i, 'rate_limit'],
  [/\btimed[- ]out\b|\bdeadline exceeded\b|\btime-?out (?:of .{1,20} )?(?:exceeded|expired)\b/i, 'timeout'],
  [/\b(?:request|connection|gateway|operation|query|read|socket) time-?out\b|(?:^|: )time-?out[.!]?$/i, 'timeout'],
  [/\b(?:request|operation|query) was aborted\b/i, 'timeout'],
  [/\bconnection (?:was )?(?:refused|reset|closed|aborted|lost|terminated)\b/i, 'network'],
  [/\bsocket hang up\b|\bbroken pipe\b|\bother side closed\b/i, 'network'],
  [/\bnetwork is unreachable\b|\bno route to host\b|\bno such host\b|\bcould not resolve host\b/i, 'network'],
  [/\bname or service not known\b|\bfailure in name resolution\b/i, 'network'],
  [/\bcertificate (?:has expired|verify failed)\b|\bself[- ]signed certificate\b/i, 'network'],
  [/(?:^|: )(?:network error\b|fetch failed\b|connection error\.?$)|\bfailed to connect to /i, 'network'],
  [/\binternal server error\b|\bbad gateway\b|\bservice (?:is )?(?:temporarily )?unavailable\b/i, 'server_error'],
  [/\bserver is (?:busy|overloaded)\b|(?:^|: )overloaded[.!]?$/i, 'server_error'],
  [/(?:^|: |\] )(?:unauthorized|forbidden|permission denied|access denied|authentication failed)\b/i, 'auth'],
  [/(?:^|: )(?:invalid|incorrect|expired) (?:api[- ]?key|x-api-key|credentials|access token)\b/i, 'auth'],
  [/(?:^|: |\] )(?:cannot find (?:module|package)|no module named|no such file or directory)\b/i, 'not_found'],
  [/(?:^|: )(?:command )?not found[.!]?$/i, 'not_found'],
  [/(?:^|: )(?:validation (?:failed|error)|bad request|invalid (?:input|request|requestid))\b/i, 'validation'],
  [/\bis not valid JSON\b|\bin JSON at position \d|^Unexpected end of JSON input/, 'parse'],
  [/(?:^|: )(?:Cannot read propert(?:y|ies) of (?:undefined|null)\b|[\w$.]{1,100} is not a function$)/, 'programming'],
];

export const classOfPhrases = (text: string): ErrorClass | undefined =>
  PHRASES.find(([phrase]) => phrase.test(text))?.[1];
