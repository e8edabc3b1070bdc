/**
 * What can be sold. Adapters report quantities of these units, prices name them, and a
 * consumption record has one line per unit. The token units never overlap: `input_token`
 * excludes what was read from or written to a cache.
 */
export const UNITS = [
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'output_token',
  'character',
  'call',
  'second',
  'image',
  'task',
] as const

export type Unit = (typeof UNITS)[number]

/** Amounts per unit as an upstream reported them: whole numbers when the upstream is sane. */
export type Quantities = Readonly<Partial<Record<Unit, number>>>
