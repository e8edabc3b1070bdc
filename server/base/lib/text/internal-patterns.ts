/** Patterns of addresses, file paths and keys, for removing them from texts. */

/** Concatenates patterns. */
const join = (flags: string, ...parts: readonly RegExp[]) =>
  new RegExp(parts.map(({ source }) => source).join(''), flags)

const group = (...parts: readonly RegExp[]) => new RegExp(`(${join('', ...parts).source})`)

/** Matches any of the patterns. */
const either = (flags: string, ...parts: readonly RegExp[]) =>
  new RegExp(`(?:${parts.map(({ source }) => source).join('|')})`, flags)

const PORT = /(?::\d{1,5})?/
const REST_OF_PATH = /(?:\/[^\s"'<>`|\\)\]}，。；、）】」]*)?/
const NO_NAME_BEFORE = /(?<![\w-])/
const NO_NAME_AFTER = /(?![\w-])/

/** Invisible characters, which could split a word for a pattern. */
export const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g

export const URL_TEXT = /\b[a-z][a-z0-9+.-]{1,20}:(?:\\?\/){2}[^\s"'<>`|\\)\]}，。；、）】」]+/gi

const OCTET = /(?:25[0-5]|2[0-4]\d|1?\d?\d)/
const DOT = /[.．。｡]/
export const IPV4 = join(
  'gi',
  /(?<![\d.v])/,
  OCTET,
  DOT,
  OCTET,
  DOT,
  OCTET,
  DOT,
  OCTET,
  PORT,
  /(?:\/\d{1,2})?(?!\w|[.．。｡]\d)/,
)
/** Also matches times of day, which `isIPv6` excludes. */
export const IPV6 = join(
  'gi',
  /(?<![\w:.])\[?(?:[0-9a-f]{0,4}:){2,7}/,
  /(?:[0-9a-f]{1,4}|(?:\d{1,3}\.){3}\d{1,3})?(?:%\w+)?\]?/,
  PORT,
  /(?!\w|:[\w:])/,
)

const INTERNAL_ENDING = either(
  '',
  /internal|intranet|intra|local|localdomain|lan|corp|home|svc|consul|arpa|private|invalid|vpc/,
  /cluster|node|pod|prod|staging|test/,
)
/** Host names of internal networks. */
export const INTERNAL_NAME = join(
  'gi',
  NO_NAME_BEFORE,
  /(?:[a-z0-9_][a-z0-9_-]{0,62}\.){1,10}/,
  INTERNAL_ENDING,
  /(?:\.[a-z0-9-]{1,63}){0,6}\.?/,
  PORT,
  NO_NAME_AFTER,
)
export const INTERNAL_HOST = join('i', /\./, INTERNAL_ENDING, /(?:\.|$)/)
/** Host names under common top-level domains. */
export const PUBLIC_NAME = join(
  'gi',
  NO_NAME_BEFORE,
  /(?:[a-z0-9][a-z0-9-]{0,62}\.){1,10}/,
  either(
    '',
    /com|net|org|io|ai|dev|cloud|cn|co|me|info|biz|tech|app|edu|gov|eu/,
    /de|uk|us|jp|hk|sg|in|ru|fr|nl/,
  ),
  PORT,
  REST_OF_PATH,
  /(?![\w-]|\.[a-z0-9])/,
)
export const HOST_AND_PORT = join(
  'gi',
  /(?<![\w.-])(?:localhost|[a-z][a-z0-9]*(?:[-.][a-z0-9]+){1,10}|[a-z]+\d+)/,
  /:[1-9]\d{2,4}(?![\w.-])/,
)
export const LOCALHOST = /\blocalhost\b/gi
/** Numbers after these words are not ports. */
export const COUNTED =
  /(?:code|count|error|id|length|limit|line|size|status|tokens?|width|height):\d+$/i
/** Machine names assigned by clouds and schedulers. */
export const MACHINE_NAME = join(
  'gi',
  NO_NAME_BEFORE,
  /(?:ip-(?:\d{1,3}-){3}\d{1,3}|[a-z][a-z0-9-]{0,80}-[0-9a-f]{8,10}-[a-z0-9]{5}|i-[0-9a-f]{17})/,
  NO_NAME_AFTER,
)

const UNIX_FOLDER =
  /(?:app|bin|data(?!\/\d)|etc|home|lib|mnt|opt|proc|root|run|srv|tmp|usr|var|workspace|Users)/
export const FILE_PATH = either(
  'gi',
  join('', /(?<![\w.:/~-])~?\//, UNIX_FOLDER, /\/[^\s"'<>`|)\]},;，。；]+/),
  /\b[a-z]:\\[^\s"'<>`|)\]},;]+/,
  /\\\\[\w.-]+\\[^\s"'<>`|)\]},;]+/,
)

/** First group: the name and separators; second group: the value. */
export const NAMED_SECRET = join(
  'gi',
  group(
    /\b(?:(?:api|app|access|secret|private|client|session|auth|signing|account)[-_ ]?)?/,
    /(?:key|token|secret|password|passwd|credential|signature|authorization)(?:[-_ ]?id)?/,
    /["']?\s{0,4}(?:[:=]|\bis\b|\bprovided:)\s{0,4}["']?(?:(?:bearer|basic)\s+)?/,
  ),
  /([^\s"',;)}\]]{6,})/,
)
/** Names that are always followed by the secret itself. */
export const ALWAYS_SECRET =
  /(?:api|access|secret|private|signing)[-_ ]?key|secret|passw|credential|author/i
export const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi
export const KEY_TEXT = either(
  'g',
  join(
    '',
    /\b(?:sk|pk|rk|ak|tr|tra|whsec|ghp|gho|github_pat|glpat|xox[abprs]|hf|gsk)/,
    /[-_](?=[\w*-]{0,64}[\d*])[\w*-]{12,}/,
  ),
  /\b(?!req|msg)[a-z]{2,4}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{16,}/,
  /\b(?:AIza|AKIA|ASIA|LTAI|AKLT)(?=[\w-]{0,64}\d)[\w-]{12,}/,
  /\beyJ[\w-]{8,200}\.[\w-]*(?:\.[\w-]*)?/,
  /\b(?=[a-zA-Z0-9+_]{0,64}\d)[A-Za-z0-9+_]{40,}={0,2}|\b0x[0-9a-fA-F]{8,16}\b/,
)
/** Request ids, which vendors' support asks for. */
export const REQUEST_ID = /(?:request|trace|log)[-_ ]?id\W{0,4}$/i

/** Public documentation pages, by host name or path. */
export const PAGE_HOST =
  /^(?:docs?|help|support|developers?|platform|learn|community|status|www)\./i
export const PAGE_PATH = /^\/(?:docs?|help|guides?|pricing|policies|terms|learn)\b/i

/** `messages.0.content.info` is a field of the request, regardless of its last name. */
export const FIELD_ROOT = either(
  'i',
  /^(?:body|config|content|data|extra_body|function|generation_config|image|input|messages)\./,
  /^(?:metadata|model|options|parameters|params|properties|reasoning|req_params|request)\./,
  /^(?:response_format|schema|tool_choice|tools)\./,
)
