/** A moment: short in place, complete on hover. */
import { Tooltip } from '@mantine/core'
import { formatRelative, formatShortTime, formatTime } from '../lib/format.ts'
import { useLanguage } from '../lib/i18n.tsx'
import { useNow } from '../lib/use-now.ts'

interface TimeTextProps {
  readonly time: string | null | undefined
  /** `relative` (3 minutes ago) keeps itself up to date. */
  readonly form?: 'short' | 'full' | 'relative'
  /** Instead of nothing. */
  readonly absent?: string
}

const TICK_MS = 15_000

export function TimeText({ time, form = 'short', absent = '–' }: TimeTextProps) {
  const { language } = useLanguage()
  const nowMs = useNow(form === 'relative' ? TICK_MS : undefined)
  if (!time) return <span>{absent}</span>
  const full = formatTime(time, language)
  const shown = {
    full,
    short: formatShortTime(time, language),
    relative: formatRelative(time, nowMs, language),
  }[form]
  const text = (
    <time dateTime={time} style={{ whiteSpace: 'nowrap' }}>
      {shown}
    </time>
  )
  return form === 'full' ? text : <Tooltip label={full}>{text}</Tooltip>
}
