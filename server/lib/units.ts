/**
 * What can be sold. Adapters report quantities of these units, prices name them, and a
 * consumption record has one line per unit. The token units never overlap: `input_token`
 * excludes what was read from or written to a cache and what another modality's unit counts.
 */
export const UNITS = [
  /** Text input that was neither read from nor written to a cache. */
  'input_token',
  'cached_input_token',
  /** Input written to a cache whose lifetime the vendor does not state. */
  'cache_write_token',
  'cache_write_5m_token',
  'cache_write_1h_token',
  'audio_input_token',
  'cached_audio_input_token',
  'image_input_token',
  'cached_image_input_token',
  'video_input_token',
  /** Text output, reasoning included; also the tokens of a generated video. */
  'output_token',
  'audio_output_token',
  'image_output_token',
  /** One search that the vendor ran. */
  'web_search_call',
  /** One prompt that the vendor grounded in a search, however many queries that took. */
  'grounded_prompt',
  'file_search_call',
  'web_fetch_call',
  'code_execution_call',
  /** One minute of a container that the vendor runs, its minimum applied. */
  'container_minute',
  /** One token kept in a vendor's cache for one hour. */
  'cache_storage_token_hour',
  /** One page that the vendor read or parsed. */
  'page',
  /** One billionth of the vendor's currency, where the answer states what the call cost. */
  'vendor_cost',
  'character',
  'call',
  'second',
  'image',
  'task',
] as const

export type Unit = (typeof UNITS)[number]

/** Amounts per unit as an upstream reported them: whole numbers when the upstream is sane. */
export type Quantities = Readonly<Partial<Record<Unit, number>>>

const ORDER: ReadonlyMap<string, number> = new Map(UNITS.map((unit, index) => [unit, index]))

/** Returns the units that `quantities` has, in the order of `UNITS`; other members are left out. */
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

/** Units of the prompt: together they are the `input_tokens` that price tiers compare. */
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

/** Units of the answer: together they are the `output_tokens` that price tiers compare. */
export const OUTPUT_UNITS: readonly Unit[] = [
  'output_token',
  'audio_output_token',
  'image_output_token',
]

/**
 * Returns the side of a call, prompt or answer, that a unit counts a part of: one part that is
 * stated is enough to know the side. A unit that is no token is a side of its own.
 */
export function sideOf(unit: Unit): readonly Unit[] {
  return SIDES.get(unit) ?? [unit]
}

const SIDES: ReadonlyMap<Unit, readonly Unit[]> = new Map(
  [INPUT_UNITS, OUTPUT_UNITS].flatMap((side) => side.map((unit) => [unit, side] as const)),
)

/** Adds up the quantities of some units. */
export function sumOf(quantities: Quantities, units: readonly Unit[]): number {
  let total = 0
  for (const unit of units) total += quantities[unit] ?? 0
  return total
}
