/** The channels that adding a vendor creates, from its presets and what was typed. */
import type { Settings } from './setting-fields.ts'

export interface Preset {
  readonly id: string
  readonly upstream: string
  readonly settings: Settings
  readonly variables: readonly {
    readonly setting: string
    readonly variable: string
    readonly is_set: boolean
  }[]
  readonly exists: boolean
}

/** A value that the vendor's channels take from an environment variable, or that is typed. */
export interface Needed {
  readonly setting: string
  readonly variable: string
  readonly isSet: boolean
  readonly channels: readonly string[]
}

/** Returns the presets that do not exist yet; if all do, the first for a second account. */
export function listPresets(presets: readonly Preset[]): readonly Preset[] {
  const missing = presets.filter(({ exists }) => !exists)
  return missing.length > 0 ? missing : presets.slice(0, 1)
}

/** Returns a free name for the channel of a preset. */
export function nameOf({ id, exists }: Preset, taken: readonly string[]): string {
  if (!exists) return id
  const numbers = Array.from({ length: taken.length + 2 }, (_, at) => `${id}-${at + 2}`)
  return numbers.find((one) => !taken.includes(one)) ?? id
}

export function listNeeded(presets: readonly Preset[]): Needed[] {
  const all = presets.flatMap(({ id, variables }) => variables.map((one) => ({ ...one, id })))
  return [...Map.groupBy(all, ({ variable }) => variable)].map(([variable, uses]) => ({
    variable,
    setting: uses[0]?.setting ?? '',
    isSet: uses[0]?.is_set ?? false,
    channels: uses.map(({ id }) => id),
  }))
}

/** Returns the channels to add: those whose needed values are typed or set on the gateway. */
export function toChannels(
  presets: readonly Preset[],
  typed: Readonly<Record<string, string>>,
  /** Settings of the form, for a vendor with one channel. */
  further: Settings = {},
) {
  return presets.flatMap(({ id, variables }) => {
    const values = variables.map((one) => ({ ...one, value: (typed[one.variable] ?? '').trim() }))
    if (values.some(({ value, is_set: isSet }) => value === '' && !isSet)) return []
    const own = values.filter(({ value }) => value !== '')
    const settings = Object.fromEntries(own.map(({ setting, value }) => [setting, value]))
    return [{ preset: id, id, settings: { ...further, ...settings } }]
  })
}
