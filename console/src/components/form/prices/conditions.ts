/** The conditions of a price as form values: a fact, and its values or a range. */

export interface ConditionDraft {
  readonly fact: string
  /** Values separated by commas, of which one must hold. */
  readonly values: string
  /** Of a range; at least `min`, less than `below`. */
  readonly min: string
  readonly below: string
  /** The value as read: a condition that is not edited is sent unchanged. */
  readonly stored?: unknown
}

export type Conditions = Readonly<Record<string, unknown>>

export const NEW_CONDITION: ConditionDraft = { fact: '', values: '', min: '', below: '' }

/** Facts that prices mostly depend on, and what they can be. */
export const FACTS: Readonly<Record<string, string>> = {
  resolution: '720p, 1080p',
  quality: 'high',
  size: '1024x1024',
  service_tier: 'standard, flex, batch, fast, ultrafast, prepaid',
  region: 'us, eu',
  speed: 'standard, fast',
  clock: 'peak, off_peak',
  cache_mode: 'implicit, explicit',
  thinking: 'on, off',
  audio: 'true, false',
  video_input: 'true, false',
  input_tokens: '',
  output_tokens: '',
  model: '',
  tool: '',
}

type Range = { readonly min?: number; readonly below?: number }

const isRange = (value: unknown): value is Range =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** True if the condition is a range of a figure. */
export function takesRange({ fact, stored }: ConditionDraft): boolean {
  return stored === undefined ? fact.trim().endsWith('_tokens') : isRange(stored)
}

export function toConditionDrafts(when: Conditions = {}): ConditionDraft[] {
  return Object.entries(when).map(([fact, stored]) => {
    if (isRange(stored)) {
      const [min = '', below = ''] = [stored.min?.toString(), stored.below?.toString()]
      return { fact, values: '', min, below, stored }
    }
    const values = [stored].flat().map(String).join(', ')
    return { fact, values, min: '', below: '', stored }
  })
}

/** Returns the `when` of a price, undefined if it always applies. Skips rows without a fact. */
export function toConditions(drafts: readonly ConditionDraft[]): Conditions | undefined {
  const named = drafts.filter(({ fact }) => fact.trim() !== '')
  if (named.length === 0) return undefined
  return Object.fromEntries(named.map((draft) => [draft.fact.trim(), toCondition(draft)]))
}

function toCondition(draft: ConditionDraft): unknown {
  const { values, min, below, stored } = draft
  if (stored !== undefined) {
    const [before] = toConditionDrafts({ fact: stored })
    const isEdited =
      before?.values !== values || before.min !== min.trim() || before.below !== below.trim()
    if (!isEdited) return stored
  }
  if (takesRange(draft)) {
    return {
      ...(min.trim() === '' ? {} : { min: Number(min) }),
      ...(below.trim() === '' ? {} : { below: Number(below) }),
    }
  }
  const isFigure = [stored].flat().some((one) => typeof one === 'number')
  const all = values.split(',').map((text) => toValue(text.trim(), isFigure))
  return all.length === 1 ? all[0] : all
}

function toValue(text: string, isFigure: boolean): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return isFigure && text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}
