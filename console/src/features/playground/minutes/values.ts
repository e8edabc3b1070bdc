/** The fields of the form, and what depends on them alone. */
import type { PlaygroundModel } from '../frame/capability.ts'

export const FEATURES = ['summary', 'chapters', 'todos', 'questions', 'translate'] as const

export type Feature = (typeof FEATURES)[number]

export type MinutesLanguage = 'zh_cn' | 'en_us'

export interface MinutesValues {
  readonly url: string
  readonly language: MinutesLanguage
  readonly speakers: number | string
  readonly hotWords: string
  readonly features: readonly Feature[]
  readonly target: MinutesLanguage
  readonly identifiesSpeakers: boolean
  readonly hasWordTimes: boolean
}

/** Returns true for the minutes product; recognition has no selectable features. */
export function choosesFeatures({ id }: PlaygroundModel): boolean {
  return id !== 'service-minutes'
}
