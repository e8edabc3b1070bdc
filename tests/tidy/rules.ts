/**
 * The rules of the tree as data: who may import whom, where a package or a kind of code has its
 * place, and how large things may grow. ARCHITECTURE.md says why; tests/tidy.test.ts checks.
 */
import TABLES from '../../scripts/build/console-tables.json' with { type: 'json' }

/**
 * Parts of server/, from the lowest to the highest, with the parts that each may import besides
 * itself and Node. A file of app/ is a part.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  dialects: ['lib'],
  database: ['lib'],
  http: ['lib'],
  workers: ['lib', 'http'],
  tracing: ['lib', 'http'],
  outbound: ['lib'],
  ledger: ['lib', 'database'],
  usage: ['lib', 'database'],
  accounts: ['lib', 'database'],
  catalog: ['lib', 'database'],
  'sign-in': ['lib', 'database', 'http', 'outbound'],
  assets: ['lib', 'database', 'outbound'],
  archive: ['lib', 'database', 'ledger', 'usage', 'assets'],
  webhooks: ['lib', 'database', 'outbound'],
  alerts: ['lib', 'database', 'outbound', 'webhooks'],
  upstreams: ['lib', 'dialects'],
  pipeline: ['lib', 'dialects', 'http', 'accounts', 'catalog', 'ledger', 'upstreams'],
  metrics: ['lib', 'workers', 'usage', 'pipeline'],
  config: ['lib', 'http', 'pipeline', 'sign-in'],
  tasks:
    `lib database dialects pipeline ledger usage catalog http accounts upstreams webhooks assets
    outbound`.split(/\s+/),
  endpoints: `lib http dialects accounts catalog usage pipeline tasks assets webhooks upstreams
    outbound`.split(/\s+/),
  console: ['lib', 'http', 'endpoints'],
  admin: `lib database accounts catalog ledger usage http endpoints tasks assets webhooks outbound
    upstreams pipeline sign-in alerts`.split(/\s+/),
  'app/access-log.ts': ['lib', 'http', 'pipeline'],
  'app/demo-vendors.ts': ['lib'],
  'app/housekeeping.ts': ['lib'],
  'app/log.ts': ['lib'],
  'app/ready.ts': ['lib'],
  'app/watch-storage.ts': ['lib', 'config', 'ledger'],
  'app/background-workers.ts':
    `lib config database ledger assets outbound tasks usage webhooks alerts
    metrics app/housekeeping.ts`.split(/\s+/),
  'app/open-callbacks.ts': ['lib', 'config', 'tasks'],
  'app/open-ledger.ts': ['lib', 'config', 'database', 'ledger', 'pipeline'],
  'app/open-outbound.ts': ['lib', 'config', 'outbound', 'pipeline'],
  'app/open-own-database.ts': ['config', 'database', 'app/log.ts'],
  'app/supervise.ts': 'lib config metrics workers app/log.ts app/open-own-database.ts'.split(' '),
  'app/open-sign-in.ts': 'lib config accounts ledger sign-in alerts outbound'.split(' '),
  'app/open-tasks.ts':
    `lib config database assets catalog endpoints outbound pipeline tasks upstreams webhooks
    app/open-callbacks.ts`.split(/\s+/),
  'app/open-telemetry.ts': `lib config ledger outbound pipeline tracing usage metrics app/log.ts
    app/open-outbound.ts`.split(/\s+/),
}

/**
 * The rooms of a folder, from the lowest to the highest: a file imports from its own room and from
 * those before it, types included. A name with an ending is a file directly in the folder, and
 * `.` stands for all other files there.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'server/base/lib': ['json', '.', 'process', 'queues', 'secrets', 'text', 'media', 'memory'],
  'server/base/lib/media/sound': [
    'unreadable-sound.ts',
    'pieces.ts',
    'codecs',
    'mp4',
    'matroska',
    '.',
  ],
  'server/base/http': ['connections', '.', 'built'],
  'server/base/database': '. connection claim-loop.ts migrations backup embedded open.ts'.split(
    ' ',
  ),
  'server/wire/dialects':
    `. request-json usage parts contents chat completions-over-chat messages chat-over-messages chat-over-contents
    messages-over-chat responses responses-over-chat images interpretation minutes video fields
    speech synthesis synthesis-over-speech transcription transcription-over-recognition`.split(
      /\s+/,
    ),
  'server/money/ledger':
    '. books audit leases posting holds redeem budgets ledger.ts rehearsal-ledger.ts'.split(' '),
  'server/money/accounts': ['.', 'tokens', 'identify.ts'],
  'server/work/alerts': ['alert.ts', 'mail', '.'],
  'server/money/catalog': [
    '.',
    'price',
    'load',
    'compare-costs.ts',
    'lists',
    'issuers',
    'apply',
    'export.ts',
  ],
  'server/api/sign-in':
    `. audit-log rates parts.ts factors sessions passwords passkeys tokens people
    sign-in.ts`.split(/\s+/),
  'server/work/assets':
    '. storage library copies uploads own-content.ts measure-own.ts sound assets.ts'.split(' '),
  'server/work/pipeline':
    `. load price metering.ts services.ts refusal.ts request hold answer send price-end.ts settle.ts
    stored-requests.ts
    remember-answer.ts meter.ts`.split(/\s+/),
  'server/work/tasks':
    '. callbacks finish submit calls background recover poll convert tasks.ts'.split(' '),
  'server/api/endpoints':
    `. account text audio images video minutes files webhooks service reference
    index.ts`.split(/\s+/),
  'server/api/endpoints/text': ['tokens', 'billing', 'references', 'socket', '.', 'contents'],
  'server/api/admin': `. live services.ts handler.ts operator account people contract.ts handlers.ts
    endpoints.ts`.split(/\s+/),
  'console/src/components': '. text state charts page list prices fields form'.split(' '),
  'console/src/features/playground/frame':
    '. bench.module.css fields call cost task upload send-bar.tsx bench.tsx'.split(' '),
}

/** Folders with an order of another kind: vendors never know each other. */
export const UNORDERED: ReadonlySet<string> = new Set(['server/wire/upstreams', 'server/api/app'])

/** Folders of console/src that each of them may import besides itself. */
export const CONSOLE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  components: ['lib'],
  features: ['components', 'lib'],
}

/** Tables of the server that the console reads: data alone, so that no list is kept twice. */
export const CONSOLE_TABLES: ReadonlySet<string> = new Set(TABLES)

/** Wiring: these see everything. */
export const SEES_ALL: ReadonlySet<string> = new Set([
  'main.ts',
  'app/stop.ts',
  'app/demo.ts',
  'app/open-core.ts',
  'app/open-demo.ts',
  'app/gateway-listener.ts',
])

/** Single imports against the direction, each with its reason. */
export const EXCEPTIONS: readonly { readonly from: string; readonly to: string }[] = []

/** What an adapter may import from its parent folder: the contract, never another vendor. */
export const ADAPTER_MODULES: ReadonlySet<string> = new Set([
  'node:buffer',
  'node:crypto',
  'node:http',
  'node:stream',
  'node:zlib',
  '@bufbuild/protobuf/wire',
  '@smithy/signature-v4',
  'zod',
])

/** The one place, or the few, of each runtime package or scope. Types may be named anywhere. */
export const PACKAGE_PLACES: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/client-s3': ['server/work/assets/storage/'],
  '@aws-sdk/lib-storage': ['server/work/assets/storage/s3-storage.ts'],
  '@bufbuild/protobuf/wire': ['server/wire/upstreams/doubao-ast/'],
  '@opentelemetry/*': ['server/base/tracing/'],
  '@smithy/signature-v4': ['server/wire/upstreams/anthropic/bedrock/sign.ts'],
  '@simplewebauthn/server': ['server/api/sign-in/passkeys/webauthn.ts'],
  '@simplewebauthn/server/helpers': ['server/api/sign-in/passkeys/webauthn.ts'],
  busboy: ['server/work/assets/', 'server/work/pipeline/request/read-form.ts'],
  commander: ['bin/'],
  'csv-parse': ['bin/lib/invoices/cut-csv.ts'],
  jose: ['server/money/accounts/tokens/'],
  'openid-client': ['server/api/sign-in/relying-party.ts'],
  nodemailer: ['server/work/alerts/mail/transport.ts'],
  'find-my-way': ['server/base/http/router.ts'],
  'gpt-tokenizer/encoding/o200k_base': ['server/api/endpoints/text/tokens/thread.ts'],
  'ipaddr.js': ['server/base/outbound/'],
  otpauth: ['server/api/sign-in/factors/totp.ts'],
  postgres: ['server/base/database/'],
  'prom-client': ['server/api/metrics/'],
  ws: ['server/api/endpoints/sockets.ts', 'server/work/pipeline/send/wire-socket.ts'],
  undici:
    `server/work/pipeline/send/exchange.ts server/work/pipeline/send/wire.ts server/base/outbound/
    server/api/app/open-outbound.ts server/api/app/stop.ts`.split(/\s+/),
  zod: [
    'server/money/accounts/',
    'server/api/admin/',
    'server/money/catalog/',
    'server/api/config/',
    'server/wire/dialects/chat/quirks.ts',
    'server/wire/dialects/messages/quirks.ts',
    'server/api/endpoints/',
    'server/wire/upstreams/',
  ],
}

/** Names of vendors and their products, as single words of identifiers and texts. */
export const VENDOR_WORDS: ReadonlySet<string> = new Set(
  `alibaba aliyun anthropic ark azure baidu bedrock bytedance byteplus claude dashscope deepseek
    doubao elevenlabs gemini gpt grok groq kling mistral minimax moonshot ollama openai
    openrouter openspeech qwen seedance seedream tencent vertex vidu vllm volc volcengine volces
    xai zhipu`.split(/\s+/),
)

/** Where a vendor's word is a documented fact of a public wire format. */
export const VENDOR_ALLOWED: readonly { readonly path: string; readonly text: RegExp }[] = [
  // Real SDKs of the messages dialect send these headers, which choose the error envelope, and
  // look for those of rates.
  { path: 'server/base/http/', text: /^anthropic-(?:version$|beta$|ratelimit-$)/ },
  { path: 'server/api/endpoints/text/messages.ts', text: /\banthropic-(?:version|beta)\b/ },
  { path: 'server/api/endpoints/files/file-form.ts', text: /\banthropic-version\b/ },
  { path: 'server/api/endpoints/text/billing/messages-options.ts', text: /^anthropic-beta$/ },
  // What the dialect's own image tool uses where a request names no model.
  { path: 'server/api/endpoints/text/billing/responses-options.ts', text: /^gpt-image-1$/ },
  // The name of a package.
  { path: 'server/api/endpoints/text/tokens/thread.ts', text: /^gpt-tokenizer\// },
  {
    path: 'server/wire/dialects/messages',
    text: /^\^?x?-?anthropic-(?:version|beta|billing-header)/,
  },
]

export const FOLDER_FILES_MAX = 20
export const FILE_LINES_MAX = 400
export const FUNCTION_LINES_MAX = 70
export const LINE_WIDTH_MAX = 100
export const FOLDER_README_LINES_MAX = 25

/** Text that must not stand anywhere in the repository; written so as not to find itself. */
export const FORBIDDEN_TEXT: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /(?:^|[\s"'`(=])\/(?:wor[k]|home|Users|root)\/\w/, why: 'a path of one machine' },
  { pattern: /co-authored-b[y]:|generated (?:with|by) (?:an? )?(?:AI|LLM)\b/i, why: 'a by-line' },
  { pattern: /\b(?:10|192\.168)\.\d+\.\d+\.\d+:\d+\/(?:npm|simple)/, why: 'a private registry' },
  { pattern: /^<{7} |^>{7} |^={7}$/m, why: 'a left-over of a merge' },
]

/** Folders at the top: a name that begins with one of them is a place in this repository. */
export const TOP_FOLDERS: readonly string[] =
  `benchmarks bin catalog console deploy docs examples migrations proofs scripts server
    simulators testbed tests`.split(/\s+/)

/** Citations of papers that are not in the repository. */
export const FOREIGN_CITATIONS: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /§/g, why: 'a section without its page' },
  { pattern: /\b(?:spec|design|part|brief)\s+\d[\d.]*/gi, why: 'a part of another paper' },
  { pattern: /\bthe (?:spec|specification|brief)\b/gi, why: 'a paper that is not here' },
  { pattern: /\bissue #?\d+|(?<![\w/&])#\d{1,5}\b/gi, why: 'a ticket: say what it says' },
]

/** Terms of the field that look like codes. */
export const KNOWN_TERMS: ReadonlySet<string> = new Set(
  `AES-256 BW64 CRC-32 ES256 H3 HS256 ID3 MP3 MP4 RF64 RS256 S3 SHA-1 SHA-256 SHA256 UTF-16 UTF-8 UTF8
    V3`.split(/\s+/),
)

/** Exported names that a convention gives to several files, each with its reason. */
export const SHARED_NAMES: readonly {
  readonly names: ReadonlySet<string>
  readonly place: RegExp
  readonly reason: string
}[] = [
  {
    names: new Set(['Page']),
    place: /^console\/src\/.*page\.tsx$/,
    reason: 'the router loads the page of each feature by this name',
  },
  {
    names: new Set(['messages']),
    place: /^console\/src\/.*messages\.ts$/,
    reason: 'the texts of a feature, in both languages; lists of all texts read them by this name',
  },
  {
    names: new Set([
      'chat',
      'embedding',
      'image',
      'imageEdit',
      'interpretation',
      'rerank',
      'responses',
      'search',
      'speech',
      'synthesis',
      'transcription',
    ]),
    place: /^(?:server\/(?:api\/endpoints|wire\/upstreams)|console\/src\/features\/playground)\//,
    reason: 'an operation: its endpoint, its adapters and its page of the playground',
  },
]

/** Folders whose doc comments must not open with an indirect question. */
export const STATED_FOLDERS: readonly string[] = [
  'benchmarks',
  'bin',
  'console',
  'proofs',
  'server',
  'simulators',
  'testbed',
]

interface BannedWord {
  /** Found in lines of lower-case words, names taken apart. */
  readonly pattern: RegExp
  readonly use: string
  readonly place: RegExp
  /** Files in which it has another, standard meaning. */
  readonly except?: RegExp
}

const EVERYWHERE =
  /^(?:server|bin|console\/src|migrations|docs|simulators|testbed|proofs|benchmarks|tests)|^[A-Z]/
const CODE = /^(?:server|bin|console\/src|migrations|docs|[A-Z]+\.md)/

/** Words that the glossary of ARCHITECTURE.md replaced. */
export const BANNED_WORDS: readonly BannedWord[] = [
  { pattern: /\blook(?:s|ed)? at\b|\blook ms\b/, use: '"poll"', place: CODE },
  { pattern: /\bannounce(?:s|d|ments?)?\b/, use: '"webhook"', place: EVERYWHERE },
  { pattern: /\bcrews?\b/, use: '"background workers"', place: EVERYWHERE },
  { pattern: /\bchores?\b/, use: '"housekeeping job"', place: EVERYWHERE },
  { pattern: /\bsuppos(?:e|es|ed)\b/, use: '"dry run"', place: CODE },
  { pattern: /\b(?:lends?|lent|lending|loans?)\b/, use: '"publish"', place: EVERYWHERE },
  { pattern: /\bresting\b/, use: '"cooling down"', place: EVERYWHERE },
  {
    pattern: /\blanes?\b/,
    use: '"queue partition"',
    place: EVERYWHERE,
    // The standard's own name of a parameter of argon2.
    except: /^(?:server\/api\/sign-in\/password-hashes|tests\/sign-in\/secrets\.test)\.ts$/,
  },
  { pattern: /\b(?:un)?heed(?:s|ed)?\b/, use: '"watch"', place: EVERYWHERE },
  {
    pattern: /\borphan(?:s|ed)?\b/,
    use: '"abandoned hold"',
    place: CODE,
    // An option of kubectl.
    except: /^docs\/guides\/deploy\.md$/,
  },
  { pattern: /\bsole\b/, use: '"exclusive"', place: EVERYWHERE },
  { pattern: /\b(?:arrivals|departures)\b/, use: '"slow uploads", "slow readers"', place: CODE },
  { pattern: /\blinger(?:s|ing|ed)?\b/, use: '"delayed close"', place: CODE },
  { pattern: /\bfrozen\b/, use: '"held"', place: /^(?:server|console\/src|docs)/ },
  {
    pattern: /\b(?:told|hears?|heard)\b/,
    use: 'what is received, stated or known',
    place: /^(?:server|bin|console\/src|docs|[A-Z]+\.md)/,
  },
]
