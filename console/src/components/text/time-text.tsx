/** A time: short in place, complete on hover. */
import { formatRelative, formatShortTime, formatTime } from '../../lib/format.ts'
import { useNow } from '../../lib/hooks/use-now.ts'
import { useLanguage } from '../../lib/i18n.tsx'
import { HoverLabel } from './hover-label.tsx'

interface TimeTextProps {
  readonly time: string | null | undefined
  /** `relative` (3 minutes ago) updates itself. */
  readonly form?: 'short' | 'full' | 'relative'
  /** Shown if there is no time. */
  readonly absent?: string
}

const TICK_MS = 15_000

export function TimeText({ time, form = 'short', absent = '–' }: TimeTextProps) {
  const { language } = useLanguage()
  useNow(form === 'relative' ? TICK_MS : undefined)
  if (!time) return <span>{absent}</span>
  const shown = {
    full: () => formatTime(time, language),
    short: () => formatShortTime(time, language),
    // Of this moment: what has just arrived is later than the last tick.
    relative: () => formatRelative(time, Date.now(), language),
  }[form]()
  const text = (
    <time dateTime={time} style={{ whiteSpace: 'nowrap' }}>
      {shown}
    </time>
  )
  if (form === 'full') return text
  return <HoverLabel label={() => formatTime(time, language)}>{text}</HoverLabel>
}
