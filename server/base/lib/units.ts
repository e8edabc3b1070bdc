/**
 * The units that can be billed. Adapters report quantities in these units, prices name them, and a
 * usage record has one line per unit. Token units never overlap: `input_token` excludes tokens read
 * from or written to a cache and tokens counted in another modality's unit.
 */
export const UNITS = [
  /** Text input neither read from nor written to a cache. */
  'input_token',
  'cached_input_token',
  /** Input written to a cache of unstated lifetime. */
  'cache_write_token',
  'cache_write_5m_token',
  'cache_write_1h_token',
  'audio_input_token',
  'cached_audio_input_token',
  'image_input_token',
  'cached_image_input_token',
  'video_input_token',
  /** Text output including reasoning; also the tokens of a generated video. */
  'output_token',
  'audio_output_token',
  'image_output_token',
  /** One search run by the vendor. */
  'web_search_call',
  'file_search_call',
  'web_fetch_call',
  'code_execution_call',
  /** One minute of a container run by the vendor, after applying its minimum. */
  'container_minute',
  /** One billionth of the vendor's currency, if the answer states the call's cost. */
  'vendor_cost',
  /** One query of a reranker with up to 100 documents. */
  'search_unit',
  'character',
  'call',
  'second',
  'image',
  'task',
] as const

export type Unit = (typeof UNITS)[number]

/**
 * Returns true for units that no vendor prices individually: tokens, characters, fractions of a
 * currency unit.
 */
export function isPricedByMany(unit: Unit): boolean {
  return /token|^character$|^vendor_cost$/.test(unit)
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

/** Units of the prompt: their sum is the `input_tokens` that price tiers compare. */
export const INPUT_UNITS: readonly Unit[] = [
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'cache_write_5m_token',
  'cache_write_1h_token',
  'audio_input_token',
  'cached_audio_input_token',
  'image_input_token',
  'cached_image_input_token',
  'video_input_token',
]

/** Units of the answer: their sum is the `output_tokens` that price tiers compare. */
export const OUTPUT_UNITS: readonly Unit[] = [
  'output_token',
  'audio_output_token',
  'image_output_token',
]

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
