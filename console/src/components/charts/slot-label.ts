/** Formats an hour or a day for a chart's axis or tooltip. */
import { localeOf } from '../../lib/format.ts'
import type { Language } from '../../lib/language.ts'
import type { BucketStep } from './fill-buckets.ts'

const HOUR = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const DAY = { month: 'short', day: 'numeric' } as const

export function slotLabel(
  at: string,
  step: BucketStep,
  language: Language,
  form: 'short' | 'long',
): string {
  const fields = {
    ...(step === 'day' || form === 'long' ? DAY : {}),
    ...(step === 'hour' ? HOUR : {}),
    ...(step === 'day' && form === 'long' ? { weekday: 'short' as const } : {}),
  }
  return new Intl.DateTimeFormat(localeOf(language), fields).format(new Date(at))
}
