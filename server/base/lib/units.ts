/**
 * The units that can be billed: one row has all that the gateway and the console know of a unit.
 * Adapters report quantities in these units, prices name them, and a usage record has one line per
 * unit. Token units never overlap: `input_token` excludes tokens read from or written to a cache
 * and tokens counted in another modality's unit.
 */

interface UnitRow {
  /** Its words in the console. */
  readonly en: readonly [one: string, many: string]
  readonly zh: readonly [one: string, many: string]
  /** Of a token: its sum is the `input_tokens` or `output_tokens` that price tiers compare. */
  readonly side?: 'input' | 'output'
  /** Of a token that is read from a cache, or written to one. */
  readonly cache?: 'read' | 'write'
  /** A fee of a tool that the vendor runs beside the tokens of a text model. */
  readonly isToolFee?: boolean
  /** No vendor prices one by one, as with tokens: characters, parts of money. */
  readonly isPricedByMany?: boolean
  /** A call that is priced by it never lacks it; upstreams omit others where they are zero. */
  readonly isAlwaysStated?: boolean
}

/** In the order of a record's lines. */
export const UNIT_ROWS = {
  /** Text input neither read from nor written to a cache. */
  input_token: {
    en: ['input token', 'input tokens'],
    zh: ['个输入 token', '输入 token'],
    side: 'input',
    isAlwaysStated: true,
  },
  cached_input_token: {
    en: ['cached input token', 'cached input tokens'],
    zh: ['个缓存命中 token', '缓存命中 token'],
    side: 'input',
    cache: 'read',
  },
  /** Input written to a cache of unstated lifetime. */
  cache_write_token: {
    en: ['token written to a cache', 'tokens written to a cache'],
    zh: ['个缓存写入 token', '缓存写入 token'],
    side: 'input',
    cache: 'write',
  },
  cache_write_5m_token: {
    en: ['token written to a cache for 5 minutes', 'tokens written to a cache for 5 minutes'],
    zh: ['个 5 分钟缓存写入 token', '5 分钟缓存写入 token'],
    side: 'input',
    cache: 'write',
  },
  cache_write_1h_token: {
    en: ['token written to a cache for an hour', 'tokens written to a cache for an hour'],
    zh: ['个 1 小时缓存写入 token', '1 小时缓存写入 token'],
    side: 'input',
    cache: 'write',
  },
  audio_input_token: {
    en: ['audio input token', 'audio input tokens'],
    zh: ['个音频输入 token', '音频输入 token'],
    side: 'input',
    isAlwaysStated: true,
  },
  cached_audio_input_token: {
    en: ['cached audio input token', 'cached audio input tokens'],
    zh: ['个音频缓存命中 token', '音频缓存命中 token'],
    side: 'input',
    cache: 'read',
  },
  image_input_token: {
    en: ['image input token', 'image input tokens'],
    zh: ['个图片输入 token', '图片输入 token'],
    side: 'input',
  },
  cached_image_input_token: {
    en: ['cached image input token', 'cached image input tokens'],
    zh: ['个图片缓存命中 token', '图片缓存命中 token'],
    side: 'input',
    cache: 'read',
  },
  video_input_token: {
    en: ['video input token', 'video input tokens'],
    zh: ['个视频输入 token', '视频输入 token'],
    side: 'input',
  },
  /** Text output including reasoning; also the tokens of a generated video. */
  output_token: {
    en: ['output token', 'output tokens'],
    zh: ['个输出 token', '输出 token'],
    side: 'output',
    isAlwaysStated: true,
  },
  audio_output_token: {
    en: ['audio output token', 'audio output tokens'],
    zh: ['个音频输出 token', '音频输出 token'],
    side: 'output',
  },
  image_output_token: {
    en: ['image output token', 'image output tokens'],
    zh: ['个图片输出 token', '图片输出 token'],
    side: 'output',
    isAlwaysStated: true,
  },
  /** One search run by the vendor. */
  web_search_call: {
    en: ['web search', 'web searches'],
    zh: ['次联网搜索', '次联网搜索'],
    isToolFee: true,
  },
  file_search_call: {
    en: ['file search', 'file searches'],
    zh: ['次文件检索', '次文件检索'],
    isToolFee: true,
  },
  web_fetch_call: {
    en: ['page fetched', 'pages fetched'],
    zh: ['次网页抓取', '次网页抓取'],
    isToolFee: true,
  },
  code_execution_call: {
    en: ['code execution', 'code executions'],
    zh: ['次代码执行', '次代码执行'],
    isToolFee: true,
  },
  /** One minute of a container run by the vendor, after applying its minimum. */
  container_minute: {
    en: ['container minute', 'container minutes'],
    zh: ['分钟容器', '分钟容器'],
    isToolFee: true,
  },
  /** One billionth of the vendor’s currency, if the answer states the call’s cost. */
  vendor_cost: {
    en: ['billionth of the vendor’s bill', 'billionths of the vendor’s bill'],
    zh: ['个供应商账单金额的十亿分之一', '供应商账单金额的十亿分之一'],
    isPricedByMany: true,
  },
  /** One query of a reranker with up to 100 documents. */
  search_unit: { en: ['search unit', 'search units'], zh: ['搜索单元', '搜索单元'] },
  character: {
    en: ['character', 'characters'],
    zh: ['字符', '字符'],
    isPricedByMany: true,
    isAlwaysStated: true,
  },
  call: { en: ['call', 'calls'], zh: ['次', '次调用'], isAlwaysStated: true },
  second: { en: ['second', 'seconds'], zh: ['秒', '秒'], isAlwaysStated: true },
  image: { en: ['image', 'images'], zh: ['张图片', '张图片'], isAlwaysStated: true },
  task: { en: ['task', 'tasks'], zh: ['个任务', '个任务'], isAlwaysStated: true },
} as const satisfies Readonly<Record<string, UnitRow>>

export type Unit = keyof typeof UNIT_ROWS

export const UNITS = Object.keys(UNIT_ROWS) as [Unit, ...Unit[]]

const ROWS: Readonly<Record<Unit, UnitRow>> = UNIT_ROWS

const unitsWith = (has: (row: UnitRow) => unknown) => UNITS.filter((unit) => has(ROWS[unit]))

/** Units of the prompt. */
export const INPUT_UNITS: readonly Unit[] = unitsWith(({ side }) => side === 'input')

/** Units of the answer. */
export const OUTPUT_UNITS: readonly Unit[] = unitsWith(({ side }) => side === 'output')

export const TOKEN_UNITS: readonly Unit[] = [...INPUT_UNITS, ...OUTPUT_UNITS]

export const CACHED_UNITS: readonly Unit[] = unitsWith(({ cache }) => cache === 'read')

export const CACHE_WRITE_UNITS: readonly Unit[] = unitsWith(({ cache }) => cache === 'write')

export const TOOL_FEE_UNITS: readonly Unit[] = unitsWith(({ isToolFee }) => isToolFee)

/** Units that a call never lacks. */
export const ALWAYS_STATED_UNITS: readonly Unit[] = unitsWith(
  ({ isAlwaysStated }) => isAlwaysStated,
)

/**
 * Returns true for units that no vendor prices individually: tokens, characters, fractions of a
 * currency unit.
 */
export function isPricedByMany(unit: Unit): boolean {
  const { side, isPricedByMany: isSo = side !== undefined } = ROWS[unit]
  return isSo
}

/** Amounts per unit as reported by an upstream; not yet validated as whole numbers. */
export type Quantities = Readonly<Partial<Record<Unit, number>>>

const ORDER: ReadonlyMap<string, number> = new Map(UNITS.map((unit, index) => [unit, index]))

/** Returns the units in `quantities`, in the order of `UNITS`; other members are ignored. */
export function unitsOf(quantities: Quantities): readonly Unit[] {
  const units: Unit[] = []
  let last = -1
  let isSorted = true
  for (const name in quantities) {
    const index = ORDER.get(name)
    if (index === undefined) continue
    isSorted &&= index > last
    last = index
    units.push(name as Unit)
  }
  return isSorted ? units : units.sort((a, b) => (ORDER.get(a) ?? 0) - (ORDER.get(b) ?? 0))
}

/**
 * Returns the units of the same side of a call, prompt or answer, as `unit`. Any other unit is a
 * side of its own.
 */
export function sideOf(unit: Unit): readonly Unit[] {
  return SIDES.get(unit) ?? [unit]
}

const SIDES: ReadonlyMap<Unit, readonly Unit[]> = new Map(
  [INPUT_UNITS, OUTPUT_UNITS].flatMap((side) => side.map((unit) => [unit, side] as const)),
)

/** Adds up the quantities of the given units. */
export function sumOf(quantities: Quantities, units: readonly Unit[]): number {
  let total = 0
  for (const unit of units) total += quantities[unit] ?? 0
  return total
}
