/** Presets that a person saved in this browser. */

export interface PresetValues {
  readonly system: string
  readonly draft: string
  readonly temperature: number | string
  readonly maxTokens: number | string
}

export interface StoredPreset extends PresetValues {
  readonly name: string
}

const STORED = 'tributary.presets'
const PRESETS_MAX = 30

/** Returns the saved presets; anything else that is stored there counts as none. */
export function readPresets(storage: Pick<Storage, 'getItem'>): StoredPreset[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(STORED) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isPreset) : []
  } catch {
    return []
  }
}

/** Saves a preset, in place of one of the same name, and returns all. */
export function savePreset(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  preset: StoredPreset,
): StoredPreset[] {
  const others = readPresets(storage).filter(({ name }) => name !== preset.name)
  return store(storage, [...others, preset].slice(-PRESETS_MAX))
}

export function removePreset(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  name: string,
): StoredPreset[] {
  return store(
    storage,
    readPresets(storage).filter((one) => one.name !== name),
  )
}

function store(storage: Pick<Storage, 'setItem'>, presets: StoredPreset[]): StoredPreset[] {
  storage.setItem(STORED, JSON.stringify(presets))
  return presets
}

const isValue = (value: unknown) => typeof value === 'string' || typeof value === 'number'

function isPreset(value: unknown): value is StoredPreset {
  if (typeof value !== 'object' || value === null) return false
  const { name, system, draft, temperature, maxTokens } = value as Record<string, unknown>
  const texts = [name, system, draft]
  return (
    texts.every((text) => typeof text === 'string') && isValue(temperature) && isValue(maxTokens)
  )
}
