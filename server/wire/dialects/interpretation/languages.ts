/**
 * The languages of simultaneous interpretation and their combinations
 * (docs/protocols/volcengine-interpretation.md#languages). They are not in the adapter because the
 * endpoint refuses a wrong combination before anything is held.
 */
import { InvalidRequest } from '../invalid-request.ts'

/** Languages whose voices can be cloned. */
const CLONED = ['zh', 'en', 'de', 'fr', 'es', 'id', 'ja', 'pt'] as const
const MORE = ['ko', 'tr', 'ms', 'nl', 'ro', 'pl', 'cs', 'ar', 'th', 'vi', 'ru', 'it'] as const
/** Source languages only. */
const DIALECTS = ['yue-CN', 'sh-CN'] as const
/** Chinese and English mixed, each translated into the other. */
const BOTH_WAYS = 'zhen'

export const SOURCE_LANGUAGES = [...CLONED, ...MORE, ...DIALECTS, BOTH_WAYS] as const
export const TARGET_LANGUAGES = [...CLONED, ...MORE, BOTH_WAYS] as const

export interface Languages {
  readonly source: string
  readonly target: string
}

/**
 * Fills in the languages that a caller omits: if both are omitted, Chinese and English both ways;
 * if one is, its counterpart, Chinese or English.
 */
export function completeLanguages(source: string, target: string): Languages {
  if (source === '' && target === '') return { source: BOTH_WAYS, target: BOTH_WAYS }
  if (source === '') return { source: counterpart(target), target }
  if (target === '') return { source, target: counterpart(source) }
  return { source, target }
}

function counterpart(language: string): string {
  if (language === BOTH_WAYS) return BOTH_WAYS
  return language === 'zh' ? 'en' : 'zh'
}

/** Throws InvalidRequest for languages that cannot be combined. */
export function checkLanguages(
  { source, target }: Languages,
  mode: 's2t' | 's2s',
  hasVoice: boolean,
): void {
  if ((source === BOTH_WAYS) !== (target === BOTH_WAYS)) {
    const message = `${BOTH_WAYS} must be both languages or neither`
    throw new InvalidRequest('target_language', message)
  }
  if (source === BOTH_WAYS) return
  if (source === target) {
    throw new InvalidRequest('target_language', `is the source language, ${source}, as well`)
  }
  if (!isPivot(source) && !isPivot(target)) {
    const message = `${source} to ${target}: one of the two must be zh or en`
    throw new InvalidRequest('target_language', message)
  }
  if (mode === 's2s') checkSpeech({ source, target }, hasVoice)
}

function checkSpeech({ source, target }: Languages, hasVoice: boolean): void {
  if (hasVoice) {
    if (isPivot(target)) return
    throw new InvalidRequest('target_language', `a voice speaks zh or en, not ${target}`)
  }
  const cannot = [source, target].find((one) => !isCloned(one))
  if (cannot === undefined) return
  const param = cannot === source ? 'source_language' : 'target_language'
  const message = `without a voice the speaker is cloned, in ${CLONED.join(', ')}, not ${cannot}`
  throw new InvalidRequest(param, message)
}

function isPivot(language: string): boolean {
  return language === 'zh' || language === 'en'
}

function isCloned(language: string): boolean {
  return CLONED.some((one) => one === language)
}
